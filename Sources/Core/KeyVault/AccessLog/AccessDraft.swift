internal import Glibc
internal import Sealing

/// The caller's part of an entry. The log adds the process, the time, and the entry's place in the chain.
struct AccessDraft: Sendable {
    var event: AccessEvent
    var outcome = AccessOutcome.succeeded
    var generation: UInt64 = 0
    var subject: AccessSubject?
    var executable = ExecutableName.current

    /// Writes the entry that follows the last one.
    ///
    /// - Parameters:
    ///   - space: 512 bytes: the last entry as it is in the file, or zeros if there is no entry. The new entry goes
    ///     behind it.
    ///   - key: The log key; empty for an unkeyed entry.
    ///   - number: The key's number; 0 for an unkeyed entry.
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

/// A program's path cut to the size of the field. The end is kept, because it says more than the beginning.
struct ExecutableName: Hashable, Sendable {
    static let maximumSize = 160

    let bytes: ArraySlice<UInt8>
    /// `true` if the beginning is missing.
    let isCut: Bool

    /// The name of this process's executable.
    static let current = ExecutableName(path: RunningProcess.executable)

    init(path: [UInt8]) {
        isCut = path.count > Self.maximumSize
        // Never cut within a UTF-8 character.
        bytes = isCut ? path.suffix(Self.maximumSize).drop { $0 & 0xC0 == 0x80 } : path[...]
    }
}

/// The process as the log records it. A dishonest process can falsify these values.
enum RunningProcess {
    /// Read each time, because a fork changes it.
    static var pid: UInt32 { UInt32(bitPattern: getpid()) }
    static var uid: UInt32 { geteuid() }

    /// The target of `/proc/self/exe`, proc(5): the bytes of a path; empty without /proc. Read once, because an `exec`
    /// starts the program again.
    static let executable: [UInt8] = [UInt8](unsafeUninitializedCapacity: Int(PATH_MAX)) { buffer, count in
        count = buffer.withMemoryRebound(to: CChar.self) { space in
            space.baseAddress.map { max(0, readlink("/proc/self/exe", $0, space.count)) } ?? 0
        }
    }
}
