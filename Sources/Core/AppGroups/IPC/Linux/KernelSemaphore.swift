internal import CLinux

/// A set of semaphores of semop(2): the first is the one that is used, the others hold the record's stamp.
struct KernelSemaphore: KernelObject {
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
    func add(_ change: Int32, undoing: Bool, atMost nanoseconds: Int64?) -> Int32 {
        var flags: Int32 = 0
        if undoing { flags |= Int32(CLINUX_SEM_UNDO) }
        if nanoseconds == 0 { flags |= Int32(CLINUX_SEM_NO_WAIT) }
        return clinux_sem_add(id, 0, change, flags, nanoseconds ?? -1)
    }

    /// The value or -errno.
    func value() -> Int32 { clinux_sem_value(id, 0) }
}
