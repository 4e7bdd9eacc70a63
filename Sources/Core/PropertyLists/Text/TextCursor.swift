/// A position in text that is valid UTF-8. All that the formats are made of is ASCII, so it steps by bytes.
package struct TextCursor {
    package let text: UnsafeRawBufferPointer
    /// How many bytes have been taken.
    package private(set) var position = 0

    init(_ text: UnsafeRawBufferPointer) { self.text = text }

    /// Whether nothing is left.
    package var isAtEnd: Bool { position == text.count }

    /// The byte here; nil at the end.
    package var byte: UInt8? { position < text.count ? text[position] : nil }

    /// The byte behind it; nil where the text ends before.
    var second: UInt8? { position < text.count - 1 ? text[position + 1] : nil }

    /// The line here, from 1 on. It counts from the beginning: for messages only.
    var line: Int { text[..<position].count { $0 == UInt8(ascii: "\n") } + 1 }

    /// Steps over bytes that are there.
    mutating func step(_ count: Int = 1) { position = min(text.count, position + count) }

    /// Steps over bytes if they come next.
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

    /// The bytes up to the first one that does not belong, which is next then.
    mutating func take(while belongs: (UInt8) -> Bool) -> UnsafeRawBufferPointer {
        let start = position
        while position < text.count, belongs(text[position]) { position += 1 }
        return UnsafeRawBufferPointer(rebasing: text[start..<position])
    }

    /// The bytes up to an end mark, which is stepped over; nil, and nothing is stepped over, where it does not come.
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
