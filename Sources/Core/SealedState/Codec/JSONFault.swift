/// Where and why text is not JSON; it never repeats the text, which may be secret.
package struct JSONFault: Error, Equatable {
    /// Bytes from the start.
    package let offset: Int
    /// From 1.
    package let line: Int
    /// From 1, in characters.
    package let column: Int
    /// What was expected or found, as the end of a sentence.
    package let reason: String

    package init(_ reason: String, at offset: Int, in text: UnsafeRawBufferPointer) {
        self.reason = reason
        self.offset = offset
        let before = text.prefix(offset)
        line = before.count { $0 == 0x0A } + 1
        let lineStart = before.lastIndex(of: 0x0A).map { $0 + 1 } ?? 0
        // Bytes that continue a character begin with the bits 10.
        column = before[lineStart...].count { $0 & 0xC0 != 0x80 } + 1
    }
}
