internal import Glibc

/// `hostile-costs`: passes the controls and every hostile input to their public functions, one after another.
///
/// Prints a line for each, separated by tabs: its name, the entry point, the code of the refusal or `accepted`, the increase
/// of the peak of resident memory in KiB, and the microseconds of processor time.
func hostileCostsCommand(arguments: [String]) -> Int32 {
    guard arguments.isEmpty else { return 64 }
    // Tables that the first use creates do not count as a cost of an input.
    for hostile in HostileCase.controls + HostileCase.all.filter(\.isToBeRefused) {
        _ = HostileCase.refusal(hostile.bytes(), at: hostile.entryPoint)
    }
    for hostile in HostileCase.controls + HostileCase.all {
        let bytes = hostile.bytes()
        // Memory that was freed earlier must not hide this input's use.
        giveBackFreedMemory()
        guard forgetPeak() else { return 1 }
        let before = residentMemory("VmRSS:")
        let start = processorTime()
        let code = HostileCase.refusal(bytes, at: hostile.entryPoint)
        let time = processorTime() - start
        let memory = max(0, residentMemory("VmHWM:") - before)
        say("\(hostile.name)\t\(hostile.entryPoint.rawValue)\t\(code ?? "accepted")\t\(memory)\t\(time)")
    }
    return 0
}

/// `hostile-write DIRECTORY`: writes every input to a file, for other implementations.
func hostileWriteCommand(arguments: [String]) -> Int32 {
    guard arguments.count == 1 else { return 64 }
    for (number, hostile) in HostileCase.all.enumerated() {
        let path = "\(arguments[0])/\(1000 + number)-\(hostile.entryPoint.rawValue)"
        guard let file = fopen(path, "wbx") else { return 1 }
        let bytes = hostile.bytes()
        let isWritten = fwrite(bytes, 1, bytes.count, file) == bytes.count
        guard fclose(file) == 0, isWritten else { return 1 }
        say("\(path)\t\(hostile.name)")
    }
    return 0
}

/// Returns the processor time of this process in microseconds.
private func processorTime() -> Int {
    var time = timespec()
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time)
    return time.tv_sec * 1_000_000 + time.tv_nsec / 1000
}

/// Calls malloc_trim(3), which Swift's overlay of the C library leaves out.
private func giveBackFreedMemory() {
    guard let symbol = dlsym(nil, "malloc_trim") else { return }
    _ = unsafeBitCast(symbol, to: (@convention(c) (Int) -> Int32).self)(0)
}
