internal import CLinux
internal import Glibc
internal import SharedFiles

/// A System V object of the kernel, with the operations that both kinds share.
///
/// Its size never changes, so a mapping never loses memory; it cannot be reached through a path.
protocol KernelObject: Sendable {
    var id: Int32 { get }
    init(id: Int32)

    /// Returns the id or -errno.
    static func find(_ key: UInt32) -> Int32
    /// Creates an empty object for the owner only; returns the id or -errno.
    static func make(_ record: IPCRecord) -> Int32
    func read(_ status: inout clinux_ipc_status) -> Int32
    func give(owner: UInt32, group: UInt32, mode: UInt32) -> Int32
    /// Completes the object with the record's stamp and a semaphore's value; returns 0 or -errno.
    func complete(_ record: IPCRecord, value: Int) -> Int32
    /// Returns whether the object is complete and belongs to the record.
    func isMarked(_ record: IPCRecord) -> Bool
    /// Returns whether the object has no stamp: its creator was killed.
    func isUnfinished(_ record: IPCRecord) -> Bool
    /// Returns whether the object has the size in the record.
    static func fits(_ status: clinux_ipc_status, _ record: IPCRecord) -> Bool
    func remove() -> Int32
}

extension KernelObject {
    /// Returns owner, mode and size, or the kernel's error number.
    func status() -> Result<clinux_ipc_status, ErrnoNumber> {
        var status = clinux_ipc_status()
        let result = read(&status)
        return result < 0 ? .failure(ErrnoNumber(number: -result)) : .success(status)
    }
}

extension clinux_ipc_status {
    /// Returns whether the object's users are exactly those of a container with that sharing.
    ///
    /// The creator, and the creator's unix group, keep their rights permanently (svipc(7)): both count.
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

/// The scope of this process's semaphores and shared memory: they end at shutdown, and are visible only in their IPC
/// namespace (ipc_namespaces(7)).
struct KernelPlace: Hashable, Sendable {
    /// 16 bytes, `/proc/sys/kernel/random/boot_id`; zeros if unavailable.
    let boot: [UInt8]
    /// The number of the namespace; 0 if unavailable.
    let namespace: UInt64

    /// Returns this process's scope. Read each time, since a process may move to another namespace.
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

/// A set of semaphores of semop(2): the first is the actual semaphore, the others contain the record's stamp.
package struct KernelSemaphore: KernelObject {
    static let count = Int32(1 + IPCStamp.wordCount)

    let id: Int32

    static func find(_ key: UInt32) -> Int32 { clinux_sem_find(key) }
    static func make(_ record: IPCRecord) -> Int32 { clinux_sem_make(record.key, count, 0o600) }
    func read(_ status: inout clinux_ipc_status) -> Int32 { clinux_sem_status(id, &status) }
    func give(owner: UInt32, group: UInt32, mode: UInt32) -> Int32 { clinux_sem_give(id, owner, group, mode) }
    func remove() -> Int32 { clinux_sem_remove(id) }

    /// Sets all of them in one call, so that a stamp is never visible without the value.
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

    /// Adds to the semaphore, and waits while the result would be negative. Returns 0 or -errno.
    package func add(_ change: Int32, undoing: Bool, atMost nanoseconds: Int64?) -> Int32 {
        var flags: Int32 = 0
        if undoing { flags |= Int32(CLINUX_SEM_UNDO) }
        if nanoseconds == 0 { flags |= Int32(CLINUX_SEM_NO_WAIT) }
        return clinux_sem_add(id, 0, change, flags, nanoseconds ?? -1)
    }

    /// Returns the value or -errno.
    package func value() -> Int32 { clinux_sem_value(id, 0) }
}
