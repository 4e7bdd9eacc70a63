internal import CLinux
internal import Glibc
package import SharedFiles

/// A segment of shmget(2), with the size of its creation.
package struct KernelSegment: KernelObject {
    let id: Int32

    static func find(_ key: UInt32) -> Int32 { clinux_shm_find(key) }
    static func make(_ record: IPCRecord) -> Int32 {
        clinux_shm_make(record.key, SegmentLayout(record).size, 0o600)
    }
    func read(_ status: inout clinux_ipc_status) -> Int32 { clinux_shm_status(id, &status) }
    func give(owner: UInt32, group: UInt32, mode: UInt32) -> Int32 { clinux_shm_give(id, owner, group, mode) }
    func remove() -> Int32 { clinux_shm_remove(id) }

    func complete(_ record: IPCRecord, value: Int) -> Int32 {
        withSegment { segment in segment.write(record.stamp) }
    }

    func isMarked(_ record: IPCRecord) -> Bool { holds(record.stamp.bytes) }

    func isUnfinished(_ record: IPCRecord) -> Bool { holds([UInt8](repeating: 0, count: IPCStamp.size)) }

    static func fits(_ status: clinux_ipc_status, _ record: IPCRecord) -> Bool {
        status.size == SegmentLayout(record).size
    }

    private func holds(_ stamp: [UInt8]) -> Bool {
        var isSame = false
        return withSegment { isSame = $0.stamp == stamp } == 0 && isSame
    }

    private func withSegment(_ body: (borrowing AttachedSegment) -> Void) -> Int32 {
        switch AttachedSegment.attach(self) {
        case .success(let segment):
            body(segment)
            return 0
        case .failure(let error): return -error.number
        }
    }
}

/// A segment in this process's memory, until this value ends. Other processes change its bytes at any time.
package struct AttachedSegment: ~Copyable {
    package let memory: UnsafeMutableRawBufferPointer

    /// Attaches a segment. It is at least as long as a stamp, since the kernel's smallest segment is one page.
    package static func attach(_ segment: KernelSegment) -> Result<AttachedSegment, ErrnoNumber> {
        var address: UnsafeMutableRawPointer?
        let result = clinux_shm_attach(segment.id, &address)
        if result < 0 { return .failure(ErrnoNumber(number: -result)) }
        // Queried after attaching: while it is attached, the id cannot be reused.
        var status = clinux_ipc_status()
        let facts = clinux_shm_status(segment.id, &status)
        guard facts == 0, let address else {
            if let address { clinux_shm_detach(address) }
            return .failure(ErrnoNumber(number: -facts))
        }
        return .success(
            AttachedSegment(memory: UnsafeMutableRawBufferPointer(start: address, count: Int(status.size))))
    }

    deinit { clinux_shm_detach(memory.baseAddress) }

    package var stamp: [UInt8] { Array(memory.prefix(IPCStamp.size)) }

    func write(_ stamp: IPCStamp) {
        memory.copyBytes(from: stamp.bytes.prefix(memory.count))
        clinux_fence()
    }

    package func load(_ offset: Int) -> UInt64 { clinux_load_acquire(memory.baseAddress?.advanced(by: offset)) }

    package func store(_ value: UInt64, _ offset: Int) {
        clinux_store_release(memory.baseAddress?.advanced(by: offset), value)
    }

    /// Orders earlier copies and loads before later stores and loads.
    package func fence() { clinux_fence() }
}

// Protected by the protocol of SegmentLayout; the kernel's memory is shared with other processes in any case.
extension AttachedSegment: @unchecked Sendable {}

/// The kernel's error number for a removed object.
package let removedNumber = EIDRM

extension KernelSegment {
    /// 0 while it can be found, else the kernel's error number. A removed segment exists until its last user detaches.
    package var condition: Int32 {
        switch status() {
        case .failure(let error): error.number
        case .success(let status): status.mode & UInt32(CLINUX_SHM_DEST) != 0 ? removedNumber : 0
        }
    }
}
