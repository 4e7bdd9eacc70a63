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
        let line = UnsafeRawBufferPointer(rebasing: text[lineStart(match.lowerBound)..<lineEnd(match.upperBound)])
        guard let start = Self.position(in: line) else { return false }
        let rest = line[(start + Self.mark.count)...]
        guard rest.first == UInt8(ascii: "=") else { return true }
        let list = rest.dropFirst().prefix { $0 > 0x20 && $0 < 0x7F && !"\"'<>;)".utf8.contains($0) }
        return list.split(separator: UInt8(ascii: ",")).contains { $0.elementsEqual(check.utf8) }
    }

    private func lineStart(_ index: Int) -> Int {
        let first = max(0, index - Self.longestLine)
        return text[first..<index].lastIndex(of: UInt8(ascii: "\n")).map { $0 + 1 } ?? first
    }

    private func lineEnd(_ index: Int) -> Int {
        let last = min(text.count, index + Self.longestLine)
        return text[index..<last].firstIndex(of: UInt8(ascii: "\n")) ?? last
    }

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
