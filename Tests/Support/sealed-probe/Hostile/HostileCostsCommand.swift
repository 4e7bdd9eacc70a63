internal import Glibc

/// `hostile-costs`: hands the controls and every hostile input to their public doors, one after another.
///
/// A line for each, apart by tabs: its name, the door, the code of the refusal or `accepted`, by how many KiB the peak of
/// resident memory was above what was resident before, and the microseconds of processor time.
func hostileCostsCommand(arguments: [String]) -> Int32 {
    guard arguments.isEmpty else { return 64 }
    // The tables that a first use makes are no cost of an input.
    for hostile in HostileCase.controls + HostileCase.all.filter(\.isToBeRefused) {
        _ = HostileCase.refusal(hostile.bytes(), at: hostile.door)
    }
    for hostile in HostileCase.controls + HostileCase.all {
        let bytes = hostile.bytes()
        // What was freed before must not be the room that this one takes.
        giveBackFreedMemory()
        guard forgetPeak() else { return 1 }
        let before = residentMemory("VmRSS:")
        let start = processorTime()
        let code = HostileCase.refusal(bytes, at: hostile.door)
        let time = processorTime() - start
        let memory = max(0, residentMemory("VmHWM:") - before)
        say("\(hostile.name)\t\(hostile.door.rawValue)\t\(code ?? "accepted")\t\(memory)\t\(time)")
    }
    return 0
}

/// `hostile-write DIRECTORY`: writes every input as a file, for other implementations.
func hostileWriteCommand(arguments: [String]) -> Int32 {
    guard arguments.count == 1 else { return 64 }
    for (number, hostile) in HostileCase.all.enumerated() {
        let path = "\(arguments[0])/\(1000 + number)-\(hostile.door.rawValue)"
        guard let file = fopen(path, "wbx") else { return 1 }
        let bytes = hostile.bytes()
        let isWritten = fwrite(bytes, 1, bytes.count, file) == bytes.count
        guard fclose(file) == 0, isWritten else { return 1 }
        say("\(path)\t\(hostile.name)")
    }
    return 0
}

/// Microseconds that this process has used.
private func processorTime() -> Int {
    var time = timespec()
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time)
    return time.tv_sec * 1_000_000 + time.tv_nsec / 1000
}

/// malloc_trim(3), which Swift's overlay of the C library leaves out.
private func giveBackFreedMemory() {
    guard let symbol = dlsym(nil, "malloc_trim") else { return }
    _ = unsafeBitCast(symbol, to: (@convention(c) (Int) -> Int32).self)(0)
}
