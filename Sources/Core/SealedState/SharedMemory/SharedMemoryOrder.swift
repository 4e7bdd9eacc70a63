internal import Sealing
internal import Synchronization

/// The newest value of some shared memory that this process has seen, by all its handles.
final class SharedMemoryOrder: Sendable {
    private struct Newest: Sendable {
        var sequence: UInt64 = 0
        /// Nil for one that this process wrote and has not read.
        var commitment: Commitment?
        /// Which memory it was in: one that is made anew begins without a value.
        var memory: [UInt8]?
    }

    private let newest = Mutex(Newest())

    var highest: UInt64 { newest.withLock { $0.sequence } }

    /// Whether a value was seen in that very memory.
    func hasSeen(_ memory: [UInt8]) -> Bool { newest.withLock { $0.memory == memory } }

    /// Remembers a value that this process wrote.
    func note(_ sequence: UInt64, in memory: [UInt8]) {
        newest.withLock { if sequence > $0.sequence { $0 = Newest(sequence: sequence, memory: memory) } }
    }

    /// Refuses an authentic value that is older than what was seen, or another one of the same number.
    func require(_ header: BlobHeader, named name: String, in memory: [UInt8]) throws(StoreError) {
        let seen = newest.withLock { newest in
            defer {
                if header.sequence > newest.sequence || (header.sequence == newest.sequence && newest.commitment == nil)
                {
                    newest = Newest(sequence: header.sequence, commitment: header.commitment, memory: memory)
                }
            }
            return newest
        }
        if header.sequence < seen.sequence {
            throw StoreError(
                .replayed, "read", name,
                "It has sequence \(header.sequence); this process has seen \(seen.sequence).")
        }
        if header.sequence == seen.sequence, let known = seen.commitment, known != header.commitment {
            throw StoreError(.forked, "read", name, "Another value with sequence \(header.sequence) was seen before.")
        }
    }

    // One for each memory, so that two handles of a process never judge by different memories.
    private static let all = Mutex<[String: SharedMemoryOrder]>([:])

    static func shared(_ name: String) -> SharedMemoryOrder {
        all.withLock { all in
            if let order = all[name] { return order }
            let order = SharedMemoryOrder()
            all[name] = order
            return order
        }
    }
}
