/// The byte ranges that stand for accesses, with the mode of each.
///
/// An item has two slots. Its own: shared for its readers, exclusive for its writer. And that of its tree: shared for
/// whoever uses something below it, exclusive for who deletes, moves or replaces it. So a writer of a directory's content
/// and one of a file in it do not meet, and nobody moves the directory away under either.
///
/// A slot is a hash. Two items that share one wait for each other; that costs time and nothing else, since one access
/// takes a slot once only, with the stricter mode.
struct ItemSlots: Sendable {
    private(set) var modes: [UInt64: LockMode] = [:]

    /// - Parameter scope: up to where directories above are taken.
    mutating func add(_ item: ItemPath, _ access: FileAccessIntent.Access, scope: ItemPath?) {
        for above in item.ancestors(upTo: scope) { take(Self.slot(of: above, .tree), .shared) }
        switch access {
        case .reading: take(Self.slot(of: item, .item), .shared)
        case .writing(let purpose):
            take(Self.slot(of: item, .item), .exclusive)
            if purpose.isStructural { take(Self.slot(of: item, .tree), .exclusive) }
        }
    }

    private mutating func take(_ slot: UInt64, _ mode: LockMode) {
        if modes[slot] != .exclusive { modes[slot] = mode }
    }

    enum Part: UInt8 {
        case item = 0x69
        case tree = 0x74
    }

    /// FNV-1a with 64 bits, the same in every process, cut to what a lock range can hold. Not a keyed hash: who chooses
    /// names that collide wins nothing but waiting, which a holder of a lock can impose anyway.
    static func slot(of item: ItemPath, _ part: Part) -> UInt64 {
        var hash: UInt64 = 0xCBF2_9CE4_8422_2325
        func mix(_ byte: UInt8) { hash = (hash ^ UInt64(byte)) &* 0x0000_0100_0000_01B3 }
        mix(part.rawValue)
        item.string.utf8.forEach(mix)
        return (hash ^ hash >> 32) & 0x3FFF_FFFF_FFFF_FFFF
    }
}
