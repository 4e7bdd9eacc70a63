/// Finds the whole runs of letters around keywords of something wrapped. Keywords come in order.
struct WrappedRunFinder {
    private let text: SearchText
    /// The end of what was looked at, so that no letter is looked at again for each keyword in it.
    private var seen = 0

    private static let shortest = 16

    init(_ text: SearchText) { self.text = text }

    mutating func run(around keyword: Range<Int>, _ encoding: WrappedRun.Encoding, isStart: Bool) -> WrappedRun? {
        guard keyword.lowerBound >= seen else { return nil }
        let members: ByteClass = encoding == .hex ? .hex : .anyBase64
        let start = isStart ? keyword.lowerBound : max(seen, text.start(of: members, before: keyword.lowerBound))
        // Within a longer word it is chance, and a part of a JWT is found as such.
        guard text.beginsWord(at: start, unlike: .anyBase64), text[start - 1] != UInt8(ascii: ".") || start == 0 else {
            return nil
        }
        let end = runEnd(of: members, from: keyword.upperBound, lineStart: start)
        seen = end
        guard end - start >= Self.shortest, text[end] != UInt8(ascii: ".") else { return nil }
        if encoding == .hex { return (end - start) % 2 == 0 ? WrappedRun(range: start..<end, encoding: .hex) : nil }
        let run = text.slice(start..<end)
        let isURL = run.bytes.contains { $0 == UInt8(ascii: "-") || $0 == UInt8(ascii: "_") }
        let padded = text.end(of: .equals, from: end, atMost: 2)
        return WrappedRun(range: start..<padded, encoding: isURL ? .base64url : .base64)
    }

    /// Goes on over line ends behind lines of 40 letters and more.
    private func runEnd(of members: ByteClass, from position: Int, lineStart: Int) -> Int {
        var end = text.end(of: members, from: position, atMost: text.count)
        var lineStart = lineStart
        while end - lineStart >= 40, text[end] == 10 || text[end] == 13 {
            let next = text.end(of: .space, from: end, atMost: 80)
            let nextEnd = text.end(of: members, from: next, atMost: text.count)
            guard nextEnd - next >= 4, nextEnd - next <= end - lineStart else { break }
            lineStart = next
            end = nextEnd
        }
        return end
    }
}

extension ByteClass {
    static let anyBase64 = ByteClass.base64 + ByteClass.base64url
}
