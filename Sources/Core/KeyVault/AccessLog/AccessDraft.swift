internal import Sealing

/// What is to be entered; the log adds who, when, and the entry's place in the chain.
struct AccessDraft: Sendable {
    var event: AccessEvent
    var outcome = AccessOutcome.succeeded
    var generation: UInt64 = 0
    var subject: AccessSubject?
    var executable = ExecutableName.current

    /// Writes the entry that follows another one.
    ///
    /// - Parameters:
    ///   - space: 512 bytes: the last entry as it stands in the file, zeros where there is none; this one goes behind it.
    ///   - key: The log key; empty for an unkeyed entry.
    ///   - number: The key's; 0 for an unkeyed entry.
    /// - Returns: The entry's code.
    func write(
        into space: UnsafeMutableRawBufferPointer, index: UInt64, followsTorn: Bool, key: UnsafeRawBufferPointer,
        number: UInt32
    ) -> Bytes32 {
        typealias Layout = AccessEntryLayout
        let last = UnsafeRawBufferPointer(space.part(0, Layout.size))
        let entry = space.part(Layout.size, Layout.size)
        entry.initializeMemory(as: UInt8.self, repeating: 0)
        entry.put(index, at: Layout.index)
        entry.put(WallClock.milliseconds(), at: Layout.milliseconds)
        entry.put(event.rawValue, at: Layout.event)
        entry.put(outcome.rawValue, at: Layout.outcome)
        entry.put(RunningProcess.pid, at: Layout.pid)
        entry.put(RunningProcess.uid, at: Layout.uid)
        entry.put(generation, at: Layout.generation)
        entry.storeBytes(of: subject?.bytes ?? .zero, toByteOffset: Layout.subject, as: Bytes16.self)
        entry.put(Layout.version, at: Layout.versionField)
        entry.put(number, at: Layout.keyNumber)
        var flags = (key.isEmpty ? Layout.unkeyed : 0) | (followsTorn ? Layout.followsTornEntry : 0)
        if event == .continued {
            entry.part(Layout.executable, Layout.codeSize).copyMemory(from: last.part(Layout.bodySize, Layout.codeSize))
        } else {
            entry.put(UInt16(executable.bytes.count), at: Layout.executableSize)
            entry.part(Layout.executable, executable.bytes.count).copyBytes(from: executable.bytes)
            if executable.isCut { flags |= Layout.executableCut }
        }
        entry.put(flags, at: Layout.flags)
        let chained = UnsafeRawBufferPointer(space.part(Layout.bodySize, Layout.codeSize + Layout.bodySize))
        let code = Layout.code(of: chained, key: key)
        entry.storeBytes(of: code, toByteOffset: Layout.bodySize, as: Bytes32.self)
        return code
    }
}
