/// A set of numbers below a bound: a bit for each.
struct NumberSet {
    private var words: [UInt64]

    init(below count: Int) { words = [UInt64](repeating: 0, count: (count + 63) / 64) }

    func contains(_ number: Int) -> Bool { words[number >> 6] & (1 << UInt64(number & 63)) != 0 }

    /// Whether it was not in it before.
    @discardableResult
    mutating func insert(_ number: Int) -> Bool {
        let bit: UInt64 = 1 << UInt64(number & 63)
        defer { words[number >> 6] |= bit }
        return words[number >> 6] & bit == 0
    }
}
