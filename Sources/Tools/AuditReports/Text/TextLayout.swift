internal import SharedFiles

/// The width of text on a terminal in columns: two for ideographs, syllables of Hangul, kana, full-width forms and
/// emoji, one for other characters, including composed ones (Unicode Standard Annex 11, wide and full-width).
package enum DisplayWidth {
    package static func of(_ text: String) -> Int {
        // The fast path for nearly all names.
        if text.utf8.allSatisfy({ $0 < 0x80 }) { return text.utf8.count }
        return text.reduce(0) { $0 + width($1) }
    }

    private static func width(_ character: Character) -> Int {
        guard let first = character.unicodeScalars.first else { return 0 }
        let isEmoji = first.properties.isEmojiPresentation || character.unicodeScalars.contains { $0.value == 0xFE0F }
        return isEmoji || wide.contains { $0.contains(first.value) } ? 2 : 1
    }

    private static let wide: [ClosedRange<UInt32>] = [
        0x1100...0x115F, 0x2E80...0x303E, 0x3041...0x33FF, 0x3400...0x4DBF, 0x4E00...0x9FFF, 0xA000...0xA4CF,
        0xA960...0xA97F, 0xAC00...0xD7A3, 0xF900...0xFAFF, 0xFE30...0xFE6F, 0xFF00...0xFF60, 0xFFE0...0xFFE6,
        0x20000...0x3FFFD,
    ]
}

/// Text in lines of a limited width.
package enum WrappedText {
    /// The minimum width of a terminal.
    package static let columns = 80

    /// Returns lines that are broken between words only: a path or command stays one piece and can be copied.
    package static func lines(_ text: String, indent: Int) -> [String] {
        let margin = String(repeating: " ", count: indent)
        var lines: [String] = []
        var line = ""
        for word in text.split(separator: " ") {
            if !line.isEmpty, indent + line.count + 1 + word.count > columns {
                lines.append(margin + line)
                line = String(word)
            } else {
                line += (line.isEmpty ? "" : " ") + word
            }
        }
        return line.isEmpty ? lines : lines + [margin + line]
    }
}

/// Aligned columns; numbers are aligned to the right.
package struct TextTable {
    package struct Column: Sendable {
        let title: String
        let isNumber: Bool

        package init(title: String, isNumber: Bool = false) {
            self.title = title
            self.isNumber = isNumber
        }
    }

    package let columns: [Column]
    private var rows: [[String]] = []

    package init(_ columns: [Column]) { self.columns = columns }

    package mutating func add(_ cells: [String]) {
        precondition(cells.count == columns.count, "a row has a cell for each column")
        rows.append(cells.map(\.printable))
    }

    package var text: String {
        let all = [columns.map(\.title)] + rows
        let widths = columns.indices.map { column in all.map { DisplayWidth.of($0[column]) }.max() ?? 0 }
        return all.map { line($0, widths) }.joined(separator: "\n")
    }

    private func line(_ cells: [String], _ widths: [Int]) -> String {
        var line = ""
        for (index, cell) in cells.enumerated() {
            let space = String(repeating: " ", count: widths[index] - DisplayWidth.of(cell))
            let isLast = index == cells.count - 1
            line += columns[index].isNumber ? space + cell : isLast ? cell : cell + space
            if !isLast { line += "  " }
        }
        return line
    }
}
