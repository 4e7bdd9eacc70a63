/// What the lines of a text allow themselves: `sealaudit:allow` for everything on its line, `sealaudit:allow=ID,ID` for
/// those checks.
struct InlineAllowance {
    private let text: UnsafeRawBufferPointer
    private let isPresent: Bool

    private static let mark = Array("sealaudit:allow".utf8)
    /// How far from a match the ends of its line are looked for.
    private static let longestLine = 4096

    /// - Parameter text: Running text; empty where nothing can be allowed.
    init(in text: UnsafeRawBufferPointer) {
        self.text = text
        isPresent = Self.position(in: text) != nil
    }

    /// Whether the line of a match allows what was found there.
    func covers(_ check: String, at match: Range<Int>) -> Bool {
        guard isPresent else { return false }
        var rest = UnsafeRawBufferPointer(rebasing: text[lineStart(match.lowerBound)..<lineEnd(match.upperBound)])
        while let start = Self.position(in: rest) {
            rest = UnsafeRawBufferPointer(rebasing: rest[(start + Self.mark.count)...])
            if Self.allows(check, rest) { return true }
        }
        return false
    }

    /// Whether what follows a mark allows the check: nothing, or a list that has it. A longer word is another word.
    private static func allows(_ check: String, _ rest: UnsafeRawBufferPointer) -> Bool {
        guard let next = rest.first else { return true }
        guard next == UInt8(ascii: "=") else {
            if endMarks.contains(next) { return true }
            // A sign behind a space was meant as a list.
            return next <= 0x20 && rest.first { $0 > 0x20 } != UInt8(ascii: "=")
        }
        let list = rest.dropFirst().prefix { $0 > 0x20 && $0 < 0x7F && !endMarks.contains($0) }
        // With a space behind the sign the list is empty, and allows nothing.
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

    /// By Horspool's method: a text without the mark is passed in steps of nearly the mark's length.
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

    /// By the byte that stands where the mark would end: how far its next possible end is.
    private static let steps: [Int] = {
        var steps = [Int](repeating: mark.count, count: 256)
        for (index, byte) in mark.dropLast().enumerated() { steps[Int(byte)] = mark.count - 1 - index }
        return steps
    }()
}
