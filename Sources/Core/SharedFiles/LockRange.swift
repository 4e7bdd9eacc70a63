/// What a lock covers: everything, or one of 2^62 slots.
///
/// A slot is one byte of the lock file at an offset far beyond its (empty) content; nothing is ever written there.
/// Two names whose hashes share their lower 62 bits share a slot. They then wait for each other, which costs time and
/// nothing else, unless one task holds both at once: that one would wait for itself until its time limit.
package struct LockRange: Sendable, Hashable {
    let offset: Int64
    let length: Int64

    private static let slotCount: Int64 = 1 << 62

    /// Every slot: excludes all other ranges.
    package static let whole = LockRange(offset: 0, length: slotCount)

    /// One slot.
    ///
    /// - Parameter slot: a hash of the record's name that is the same in every process (not Swift's `Hasher`, which is
    ///   seeded per process); its upper two bits are ignored, since an offset is a signed 64-bit number.
    package init(slot: UInt64) {
        self.init(offset: Int64(slot & 0x3FFF_FFFF_FFFF_FFFF), length: 1)
    }

    /// Where those who have waited long for this range show it: as far behind the slots. Nobody is excluded there.
    var line: LockRange { LockRange(offset: offset + Self.slotCount, length: length) }

    private init(offset: Int64, length: Int64) {
        self.offset = offset
        self.length = length
    }
}

/// Who else may hold the same range.
package enum LockMode: Sendable, Hashable {
    /// Others that ask for shared as well.
    case shared
    /// Nobody.
    case exclusive
}
