/// A position in valid UTF-8 text. All syntax of the formats is ASCII, so the cursor advances by bytes.
package struct TextCursor {
    package let text: UnsafeRawBufferPointer
    /// The number of consumed bytes.
    package private(set) var position = 0

    init(_ text: UnsafeRawBufferPointer) { self.text = text }

    /// True at the end of the text.
    package var isAtEnd: Bool { position == text.count }

    /// The byte at the position, or `nil` at the end.
    package var byte: UInt8? { position < text.count ? text[position] : nil }

    /// The byte after that, or `nil` if the text ends before it.
    var second: UInt8? { position < text.count - 1 ? text[position + 1] : nil }

    /// The line at the position, from 1. It is counted from the beginning, so use it for messages only.
    var line: Int { text[..<position].count { $0 == UInt8(ascii: "\n") } + 1 }

    /// Skips bytes, up to the end.
    mutating func step(_ count: Int = 1) { position = min(text.count, position + count) }

    /// Skips the expected bytes and returns `true` if they come next.
    mutating func take(_ expected: StaticString) -> Bool {
        guard comes(expected) else { return false }
        position += expected.utf8CodeUnitCount
        return true
    }

    func comes(_ expected: StaticString) -> Bool {
        let count = expected.utf8CodeUnitCount
        guard count <= text.count - position else { return false }
        for index in 0..<count where text[position + index] != expected.utf8Start[index] { return false }
        return true
    }

    /// Consumes the bytes up to the first one that does not belong.
    mutating func take(while belongs: (UInt8) -> Bool) -> UnsafeRawBufferPointer {
        let start = position
        while position < text.count, belongs(text[position]) { position += 1 }
        return UnsafeRawBufferPointer(rebasing: text[start..<position])
    }

    /// Consumes the bytes through an end mark and returns those before it. Returns `nil`, without consuming, if the
    /// mark is missing.
    mutating func take(through end: StaticString) -> UnsafeRawBufferPointer? {
        let start = position
        while position < text.count {
            if comes(end) {
                let found = UnsafeRawBufferPointer(rebasing: text[start..<position])
                position += end.utf8CodeUnitCount
                return found
            }
            position += 1
        }
        position = start
        return nil
    }
}
