/// What the expansion of one text, or of all texts of a file, may use up.
///
/// The texts and the settings come from files of others: a circle, settings that each hold the next one twice, or many
/// references to one long value would otherwise take all memory or all time.
struct ExpansionBudget {
    private static let mostReferences = 10_000
    private static let mostBytes = 1 << 20

    private var references = 0
    private var bytes = 0

    /// Whether more was asked for than there is: what was expanded then is not complete.
    var isExceeded: Bool { references > Self.mostReferences || bytes > Self.mostBytes }

    /// Whether one reference more may be expanded.
    mutating func takeReference() -> Bool {
        references += 1
        return !isExceeded
    }

    /// Whether so many bytes more may be made.
    mutating func takeBytes(_ count: Int) -> Bool {
        bytes += count
        return bytes <= Self.mostBytes
    }
}
