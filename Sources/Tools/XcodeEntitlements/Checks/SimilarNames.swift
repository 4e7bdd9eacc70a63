internal import AppGroups

/// Pairs of similar names, each of which only one of two programs has.
struct SimilarNames {
    struct Pair {
        let first: HeldIdentifier
        let second: HeldIdentifier
        /// The difference, as the rest of a sentence.
        let difference: String
    }

    let pairs: [Pair]

    /// The limit on comparisons, above which nothing is compared. The time grows with the product of both numbers.
    private static let mostComparisons = 10_000

    init(_ firsts: [HeldIdentifier], _ seconds: [HeldIdentifier]) {
        let onlyFirst = Self.names(in: firsts, butNotIn: seconds)
        let onlySecond = Self.names(in: seconds, butNotIn: firsts)
        guard onlyFirst.count * onlySecond.count <= Self.mostComparisons else {
            pairs = []
            return
        }
        pairs = onlySecond.compactMap { second in
            for first in onlyFirst {
                if let difference = Self.difference(first.text, second.text) {
                    return Pair(first: first, second: second, difference: difference)
                }
            }
            return nil
        }
    }

    private static func names(in names: [HeldIdentifier], butNotIn others: [HeldIdentifier]) -> [HeldIdentifier] {
        let texts = Set(others.map(\.text))
        return names.filter { !texts.contains($0.text) }
    }

    func holds(_ name: HeldIdentifier) -> Bool {
        pairs.contains { $0.first.text == name.text || $0.second.text == name.text }
    }

    /// Returns the difference of two similar names, or `nil` for names that are the same or not similar.
    static func difference(_ first: String, _ second: String) -> String? {
        if first == second { return nil }
        if first.lowercased() == second.lowercased() { return "they differ in case" }
        guard abs(first.utf8.count - second.utf8.count) <= 1 else { return nil }
        return NearestName.distance(first, second) == 1 ? "they differ by one letter" : nil
    }
}
