internal import Glibc
internal import SharedFiles

/// `lock DIRECTORY NAME SLOT|whole shared|exclusive MILLISECONDS`
///
/// Prints `held` or the error's code. While it holds the lock it handles lines of its input: `named` prints `true` or
/// `false`, `unlock` prints `free`. At the end of its input it ends, which releases the lock.
func lockCommand(arguments: [String]) -> Int32 {
    guard arguments.count == 5, let limit = Int(arguments[4]) else { return 64 }
    let range = UInt64(arguments[2]).map { LockRange(slot: $0) } ?? .whole
    do throws(FileError) {
        let directory = try Directory.open(arguments[0])
        let file = LockFile(directory: directory, name: arguments[1], mode: directory.fileMode)
        let held = try file.acquire(
            range, arguments[3] == "shared" ? .shared : .exclusive, timeout: .milliseconds(limit))
        say("held")
        serve(held)
        return 0
    } catch {
        say(error.code.rawValue)
        return 1
    }
}

private func serve(_ held: consuming HeldLock) {
    while let line = readLine() {
        if line == "named" { say("\(held.isStillNamed())") }
        if line == "unlock" {
            held.unlock()
            say("free")
            while readLine() != nil {}
            return
        }
    }
}

/// Prints one line immediately, because the test waits for it.
func say(_ line: String) {
    print(line)
    fflush(nil)
}
