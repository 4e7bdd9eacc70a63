internal import FileMonitoring
internal import Glibc
internal import SharedFiles

/// `monitor-watch PATH`: watches with this process's monitor. Prints `watching` or the error's code, then `changed` or
/// `rescan` for each call, until the end of its input.
func monitorWatchCommand(arguments: [String]) -> Int32 {
    guard arguments.count == 1 else { return 64 }
    return watching(arguments[0]) {
        say("watching")
        while readLine() != nil {}
    }
}

/// `monitor-exhausted PATH`: watches when no inotify instance is available to the user. Prints the error's code and its
/// errno.
func monitorExhaustedCommand(arguments: [String]) -> Int32 {
    guard arguments.count == 1 else { return 64 }
    while inotify_init1(Int32(IN_CLOEXEC)) >= 0 {}
    return watching(arguments[0]) { say("watching") }
}

/// `monitor-limited PATH COUNT`: watches when the process may open only `COUNT` more descriptors. Prints `watching` or the
/// error's code and its errno.
func monitorLimitedCommand(arguments: [String]) -> Int32 {
    guard arguments.count == 2, let count = Int32(arguments[1]) else { return 64 }
    let next = dup(0)
    close(next)
    var limit = rlimit(rlim_cur: rlim_t(next + count), rlim_max: rlim_t(next + count))
    setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
    return watching(arguments[0]) { say("watching") }
}

/// `monitor-churn DIRECTORY SEED`: changes a tree below the directory at random, so that `a/b/c/file` and every
/// directory above it is renamed, removed, created again and replaced by links. For each line of its input it makes
/// some changes, writes a new value to `a/b/c/file`, and prints it.
func monitorChurnCommand(arguments: [String]) -> Int32 {
    guard arguments.count == 2, let seed = UInt64(arguments[1]) else { return 64 }
    do throws(FileError) {
        var tree = try ChurnedTree(arguments[0], seed: seed)
        while readLine() != nil { say(try tree.round()) }
        return 0
    } catch {
        say("\(error)")
        return 1
    }
}

/// Prints one line immediately, from any thread. `say` would wait for the thread that reads the standard input.
func sayAtOnce(_ line: String) {
    let bytes = Array((line + "\n").utf8)
    _ = write(1, bytes, bytes.count)
}

private func watching(_ path: String, _ body: () -> Void) -> Int32 {
    do throws(FileError) {
        let registration = try FileMonitor.shared.watch(path) { sayAtOnce($0 == .changed ? "changed" : "rescan") }
        body()
        registration.cancel()
        return 0
    } catch {
        say("\(error.code.rawValue) \(error.errno ?? 0)")
        return 1
    }
}
