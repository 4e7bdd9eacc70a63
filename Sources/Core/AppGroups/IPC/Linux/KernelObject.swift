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
