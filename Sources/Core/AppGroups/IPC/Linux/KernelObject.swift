internal import CLinux
internal import Glibc
internal import SharedFiles

/// A System V object of the kernel, by what both kinds have in common.
///
/// Its size never changes, so nobody can take memory away under somebody's mapping; it cannot be reached through a path.
protocol KernelObject: Sendable {
    var id: Int32 { get }
    init(id: Int32)

    /// The id or -errno.
    static func find(_ key: UInt32) -> Int32
    /// Made for the owner alone, and empty. The id or -errno.
    static func make(_ record: IPCRecord) -> Int32
    func read(_ status: inout clinux_ipc_status) -> Int32
    func give(owner: UInt32, group: UInt32, mode: UInt32) -> Int32
    /// Puts in what makes it complete: the record's stamp, and a semaphore's value with it. 0 or -errno.
    func complete(_ record: IPCRecord, value: Int) -> Int32
    /// Whether it is complete and the record's.
    func isMarked(_ record: IPCRecord) -> Bool
    /// Whether it has no stamp at all: its maker was killed.
    func isUnfinished(_ record: IPCRecord) -> Bool
    /// Whether it has the size that the record asks for.
    static func fits(_ status: clinux_ipc_status, _ record: IPCRecord) -> Bool
    func remove() -> Int32
}

extension KernelObject {
    /// Its owner, mode and size, or the kernel's number.
    func status() -> Result<clinux_ipc_status, ErrnoNumber> {
        var status = clinux_ipc_status()
        let result = read(&status)
        return result < 0 ? .failure(ErrnoNumber(number: -result)) : .success(status)
    }
}

extension clinux_ipc_status {
    /// Whether exactly those may use it who may use a container that is shared like that.
    ///
    /// The creator, and the unix group that the creator had, keep their rights for good (svipc(7)): both count.
    func isOpenOnly(to sharing: Sharing, of owner: UInt32) -> Bool {
        let permissions = mode & 0o777
        switch sharing {
        case .ownerOnly:
            let known = [geteuid(), 0, owner]
            return permissions == 0o600 && known.contains(self.owner) && known.contains(creator)
        case .unixGroup(let members):
            return permissions == 0o660 && group == members && (creator_group == members || creator == 0)
        }
    }
}

/// Where the kernel keeps semaphores and shared memory of this process: they end with the machine's start, and are seen only
/// in their IPC namespace (ipc_namespaces(7)).
struct KernelPlace: Hashable, Sendable {
    /// 16 bytes, `/proc/sys/kernel/random/boot_id`; zeros where the kernel does not tell.
    let boot: [UInt8]
    /// Number of the namespace; 0 where the kernel does not tell.
    let namespace: UInt64

    /// This process's. A process may move to another namespace while it runs: it is asked each time.
    static func current() -> Self { Self(boot: bootID, namespace: namespaceNumber()) }

    private static let bootID: [UInt8] = {
        guard let file = try? Descriptor.openForReading(path: "/proc/sys/kernel/random/boot_id") else { return unknown }
        let digits = withUnsafeTemporaryAllocation(byteCount: 64, alignment: 1) { buffer in
            let count = (try? file.read(into: buffer)) ?? 0
            return buffer[0..<count].compactMap { Character(Unicode.Scalar($0)).hexDigitValue }
        }
        guard digits.count == 32 else { return unknown }
        return (0..<16).map { UInt8(digits[2 * $0] << 4 | digits[2 * $0 + 1]) }
    }()

    private static let unknown = [UInt8](repeating: 0, count: 16)

    private static func namespaceNumber() -> UInt64 {
        var status = stat()
        return stat("/proc/self/ns/ipc", &status) == 0 ? UInt64(status.st_ino) : 0
    }
}

/// A set of semaphores of semop(2): the first is the one that is used, the others hold the record's stamp.
package struct KernelSemaphore: KernelObject {
    static let count = Int32(1 + IPCStamp.wordCount)

    let id: Int32

    static func find(_ key: UInt32) -> Int32 { clinux_sem_find(key) }
    static func make(_ record: IPCRecord) -> Int32 { clinux_sem_make(record.key, count, 0o600) }
    func read(_ status: inout clinux_ipc_status) -> Int32 { clinux_sem_status(id, &status) }
    func give(owner: UInt32, group: UInt32, mode: UInt32) -> Int32 { clinux_sem_give(id, owner, group, mode) }
    func remove() -> Int32 { clinux_sem_remove(id) }

    /// One call sets all of them: nobody finds a stamp beside a value that is yet to come.
    func complete(_ record: IPCRecord, value: Int) -> Int32 {
        clinux_sem_set_all(id, [UInt16(value)] + record.stamp.words)
    }

    func isMarked(_ record: IPCRecord) -> Bool {
        record.stamp.words.enumerated().allSatisfy { clinux_sem_value(id, Int32($0.offset) + 1) == Int32($0.element) }
    }

    func isUnfinished(_ record: IPCRecord) -> Bool {
        (0..<Self.count).allSatisfy { clinux_sem_value(id, $0) == 0 }
    }

    static func fits(_ status: clinux_ipc_status, _ record: IPCRecord) -> Bool { status.size == UInt64(count) }

    /// Adds to the semaphore, waiting where that takes it below zero. 0 or -errno.
    package func add(_ change: Int32, undoing: Bool, atMost nanoseconds: Int64?) -> Int32 {
        var flags: Int32 = 0
        if undoing { flags |= Int32(CLINUX_SEM_UNDO) }
        if nanoseconds == 0 { flags |= Int32(CLINUX_SEM_NO_WAIT) }
        return clinux_sem_add(id, 0, change, flags, nanoseconds ?? -1)
    }

    /// The value or -errno.
    package func value() -> Int32 { clinux_sem_value(id, 0) }
}
