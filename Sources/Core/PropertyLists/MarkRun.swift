/// Counts combining marks in a row.
///
/// To compare and hash texts, Swift sorts each run of marks; with marks in the wrong order that takes the square of
/// their number: one text of 1 MiB took four minutes. The limit is that of the Stream-Safe Text Format (Unicode
/// Standard Annex 15, section 13), which no language's text exceeds.
package struct MarkRun {
    package static let longest = 30

    private var length = 0

    package init() {}

    /// A character that is no mark.
    package mutating func end() { length = 0 }

    /// Takes the next scalar; whether the run is too long with it.
    package mutating func exceeds(with scalar: UInt32) -> Bool {
        guard Self.isMark(scalar) else {
            length = 0
            return false
        }
        length += 1
        return length > Self.longest
    }

    private static func isMark(_ value: UInt32) -> Bool {
        switch value {
        // Latin, Greek up to the first mark; ideographs and Hangul: most text, without a look at the tables.
        case 0..<0x300, 0x3400..<0xA000, 0xAC00..<0xD800: false
        // Starters that decompose into marks.
        case 0xF73, 0xF75, 0xF81: true
        default: Unicode.Scalar(value).map { $0.properties.canonicalCombiningClass != .notReordered } ?? false
        }
    }
}
