/// The suppressions in the lines of a text: `sealaudit:allow` for everything on its line, `sealaudit:allow=ID,ID` for
/// those checks.
struct InlineAllowance {
    private let text: UnsafeRawBufferPointer
    private let isPresent: Bool

    private static let mark = Array("sealaudit:allow".utf8)
    /// The greatest distance from a match to the ends of its line.
    private static let longestLine = 4096

    /// - Parameter text: Running text; empty if suppressions are not supported.
    init(in text: UnsafeRawBufferPointer) {
        self.text = text
        isPresent = Self.position(in: text) != nil
    }

    /// Returns whether the line of a match allows the finding of a check.
    func covers(_ check: String, at match: Range<Int>) -> Bool {
        guard isPresent else { return false }
        var rest = UnsafeRawBufferPointer(rebasing: text[lineStart(match.lowerBound)..<lineEnd(match.upperBound)])
        while let start = Self.position(in: rest) {
            rest = UnsafeRawBufferPointer(rebasing: rest[(start + Self.mark.count)...])
            if Self.allows(check, rest) { return true }
        }
        return false
    }

    /// Returns whether the text after a mark allows the check: no list, or a list that contains it. A longer word is
    /// not a mark.
    private static func allows(_ check: String, _ rest: UnsafeRawBufferPointer) -> Bool {
        guard let next = rest.first else { return true }
        guard next == UInt8(ascii: "=") else {
            if endMarks.contains(next) { return true }
            // An `=` after a space was meant to begin a list.
            return next <= 0x20 && rest.first { $0 > 0x20 } != UInt8(ascii: "=")
        }
        let list = rest.dropFirst().prefix { $0 > 0x20 && $0 < 0x7F && !endMarks.contains($0) }
        // With a space after the `=` the list is empty and allows nothing.
        return list.split(separator: UInt8(ascii: ",")).contains { $0.elementsEqual(check.utf8) }
    }

    private static let endMarks = Array("\"'<>;)*}]".utf8)

    private func lineStart(_ index: Int) -> Int {
        let first = max(0, index - Self.longestLine)
        return text[first..<index].lastIndex(where: Self.endsLine).map { $0 + 1 } ?? first
    }

    private func lineEnd(_ index: Int) -> Int {
        let last = min(text.count, index + Self.longestLine)
        return text[index..<last].firstIndex(where: Self.endsLine) ?? last
    }

    private static func endsLine(_ byte: UInt8) -> Bool { byte == UInt8(ascii: "\n") || byte == UInt8(ascii: "\r") }

    /// Returns the position of the mark by Horspool's method, which skips a text without the mark in steps of nearly
    /// the mark's length.
    private static func position(in text: UnsafeRawBufferPointer) -> Int? {
        let last = mark.count - 1
        var end = last
        while end < text.count {
            let byte = text[end]
            if byte == mark[last], text[(end - last)...].starts(with: mark) { return end - last }
            end += steps[Int(byte)]
        }
        return nil
    }

    /// The distance to the mark's next possible end, by the byte at the current end.
    private static let steps: [Int] = {
        var steps = [Int](repeating: mark.count, count: 256)
        for (index, byte) in mark.dropLast().enumerated() { steps[Int(byte)] = mark.count - 1 - index }
        return steps
    }()
}
