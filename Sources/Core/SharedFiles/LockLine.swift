/// Whether somebody has waited long for a range, and being one of those.
///
/// Whoever comes then holds back for a moment, once, so that writers without pause cannot keep a slower one out for ever.
/// Nobody is excluded by it: one who stands in line and is stopped costs each newcomer that moment and nothing else.
struct LockLine {
    private let range: LockRange
    private var isIn = false

    init(_ range: LockRange) { self.range = range.line }

    /// Whether others stand in line.
    func isFormed(_ file: borrowing Descriptor) -> Bool { !ByteRangeLock.isFree(file.rawValue, range) }

    /// Stands in line, beside any number of others.
    mutating func join(_ file: borrowing Descriptor) {
        isIn = isIn || ByteRangeLock.attempt(file.rawValue, range, .shared) == 0
    }

    /// Leaves it; not left to the descriptor's end, which a forked child may put off.
    mutating func leave(_ file: borrowing Descriptor) {
        if isIn { ByteRangeLock.release(file.rawValue, range) }
        isIn = false
    }
}
