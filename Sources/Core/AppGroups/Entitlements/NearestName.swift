/// A search for the most likely intended name.
package enum NearestName {
    /// Longer texts are cut to this length, and at most `mostNames` names are compared by distance: both may come from
    /// untrusted files, and the time grows with their product.
    private static let longestText = 256
    private static let mostNames = 256
    private static let mostEdits = 8

    /// Returns the name that differs only in case, else the one with the fewest edits; nil if none is close: within a
    /// quarter of the text's length, at least one edit and at most eight. Of equally close names it returns the first.
    package static func nearest(to text: String, among names: some Sequence<String>) -> String? {
        let folded = text.lowercased()
        let bytes = Array(text.utf8.prefix(longestText))
        var best: String?
        var limit = min(max(1, bytes.count / 4), mostEdits)
        for (position, name) in names.enumerated() {
            if name.lowercased() == folded { return name }
            guard position < mostNames, limit >= 0, abs(name.utf8.count - text.utf8.count) <= limit else { continue }
            let distance = distance(bytes, Array(name.utf8.prefix(longestText)), upTo: limit)
            guard distance <= limit else { continue }
            best = name
            limit = distance - 1
        }
        return best
    }

    /// Returns the number of edits between two texts: insertions, deletions, replacements and exchanges of neighbours,
    /// each of one byte of UTF-8 (the restricted Damerau-Levenshtein distance). Only the first 256 bytes of each count.
    package static func distance(_ first: String, _ second: String) -> Int {
        distance(Array(first.utf8.prefix(longestText)), Array(second.utf8.prefix(longestText)), upTo: longestText)
    }

    /// Returns the distance, or more than the limit: cells further from the table's diagonal are not computed.
    private static func distance(_ first: [UInt8], _ second: [UInt8], upTo limit: Int) -> Int {
        var rows = Rows(width: second.count, farthest: limit + 1)
        for row in first.indices {
            rows.advance(to: row + 1)
            for column in max(0, row - limit)..<max(0, row - limit, min(second.count, row + limit + 1)) {
                rows.take(
                    at: column, isSame: first[row] == second[column],
                    isExchange: row > 0 && column > 0 && first[row] == second[column - 1]
                        && first[row - 1] == second[column])
            }
        }
        return rows.last
    }

    /// The last three rows of the table of distances.
    private struct Rows {
        private let farthest: Int
        private var beforePrevious: [Int]
        private var previous: [Int]
        private var current: [Int]

        init(width: Int, farthest: Int) {
            self.farthest = farthest
            current = (0...width).map { min($0, farthest) }
            previous = current
            beforePrevious = current
        }

        var last: Int { current[current.count - 1] }

        mutating func advance(to row: Int) {
            beforePrevious = previous
            previous = current
            current = [Int](repeating: farthest, count: previous.count)
            current[0] = min(row, farthest)
        }

        mutating func take(at column: Int, isSame: Bool, isExchange: Bool) {
            var fewest = min(previous[column + 1] + 1, current[column] + 1, previous[column] + (isSame ? 0 : 1))
            if isExchange { fewest = min(fewest, beforePrevious[column - 1] + 1) }
            current[column + 1] = min(fewest, farthest)
        }
    }
}
