internal import PropertyLists

/// Base64 as a search meets it: words inside of it, and texts that are cut off or escaped.
extension Base64 {
    /// Returns the letters that depend on these bytes alone, if that many bytes (0 to 2) precede them in their group.
    static func letters(of bytes: [UInt8], shiftedBy shift: Int) -> [UInt8] {
        let first = (shift * 8 + 5) / 6
        let end = (shift + bytes.count) * 8 / 6
        return Array(encode([UInt8](repeating: 0, count: shift) + bytes)[first..<end])
    }

    /// Returns the bytes of a text in either alphabet, or `nil` if it contains anything else. White space and escaped
    /// line ends are skipped, and padding ends the text.
    static func decoded(_ text: SearchText, atMost limit: Int = 1 << 16) -> [UInt8]? {
        // No more letters than the bytes need.
        let most = (limit * 4 + 2) / 3
        var letters: [UInt8] = []
        letters.reserveCapacity(min(most, text.count))
        var position = 0
        while position < text.count, letters.count < most {
            let byte = text.bytes[position]
            position += 1
            if byte == UInt8(ascii: "=") { break }
            if byte <= 32 { continue }
            if byte == UInt8(ascii: "\\") {
                if text[position] != UInt8(ascii: "/") { position += 1 }
                continue
            }
            letters.append(byte)
        }
        return letters.withUnsafeBytes { decode($0, isCut: true) }
    }
}
