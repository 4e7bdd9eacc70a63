internal import Glibc
internal import SharedFiles

/// `lock-fork DIRECTORY NAME`: takes the whole lock file and forks a child that does nothing, without exec.
///
/// Prints `held PID` with the child's process id. At the next line of its input it releases the lock and prints `free`.
func lockForkCommand(arguments: [String]) -> Int32 {
    guard arguments.count == 2 else { return 64 }
    do throws(FileError) {
        let file = LockFile(directory: try Directory.open(arguments[0]), name: arguments[1])
        let held = try file.acquire(.whole, .exclusive, timeout: .zero)
        let child = forkIdle()
        guard child > 0 else { return 71 }
        say("held \(child)")
        _ = readLine()
        held.unlock()
        say("free")
        _ = readLine()
        return 0
    } catch {
        say(error.code.rawValue)
        return 1
    }
}

/// Calls fork(2) through `dlsym`, because Swift refuses the name: the child of a process with several threads may do
/// almost nothing. This child does nothing.
private func forkIdle() -> pid_t {
    guard let symbol = dlsym(nil, "fork") else { return -1 }
    let child = unsafeBitCast(symbol, to: (@convention(c) () -> pid_t).self)()
    if child == 0 {
        sleep(300)
        _exit(0)
    }
    return child
}
