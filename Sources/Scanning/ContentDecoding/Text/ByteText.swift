/// Looks for short texts in bytes.
enum ByteText {
    /// The last place where the bytes hold the text.
    static func lastRange(of text: [UInt8], in bytes: Slice<UnsafeRawBufferPointer>) -> Range<Int>? {
        guard let first = text.first, bytes.count >= text.count else { return nil }
        var end = bytes.endIndex - text.count + 1
        while let start = bytes[bytes.startIndex..<end].lastIndex(of: first) {
            if bytes[start..<start + text.count].elementsEqual(text) { return start..<start + text.count }
            end = start
        }
        return nil
    }

    /// Whether the bytes hold the text.
    static func contains(_ text: String, in bytes: ArraySlice<UInt8>) -> Bool {
        bytes.withUnsafeBytes { lastRange(of: Array(text.utf8), in: $0[...]) != nil }
    }
}
