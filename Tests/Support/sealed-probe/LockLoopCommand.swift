internal import Glibc
internal import SharedFiles

/// `lock-loop DIRECTORY NAME SLOT MICROSECONDS COUNTER`: takes a slot, holds it that long, releases it, and repeats
/// this without a pause until it is killed or its input ends.
///
/// Each time it adds one to the number of eight bytes at the start of the file `COUNTER`, which the lock protects. Prints
/// `running` after the first time.
func lockLoopCommand(arguments: [String]) -> Int32 {
    guard arguments.count == 5, let slot = UInt64(arguments[2]), let hold = UInt32(arguments[3]) else { return 64 }
    let counter = open(arguments[4], O_RDWR)
    do throws(FileError) {
        let directory = try Directory.open(arguments[0])
        let file = LockFile(directory: directory, name: arguments[1])
        var isFirst = true
        while true {
            let held = try file.acquire(LockRange(slot: slot), .exclusive, timeout: .seconds(600))
            var count: UInt64 = 0
            pread(counter, &count, 8, 0)
            count += 1
            pwrite(counter, &count, 8, 0)
            usleep(hold)
            held.unlock()
            if isFirst { say("running") }
            isFirst = false
        }
    } catch {
        say(error.code.rawValue)
        return 1
    }
}
