/// Whether bytes are text that a person could have written.
enum PrintableText {
    /// Shorter ones are chance: of so many random bytes one in 20,000 is all printable.
    static let shortest = 8
    /// With bytes above ASCII chance goes further.
    private static let shortestWide = 24

    static func isText(_ bytes: UnsafeRawBufferPointer) -> Bool {
        guard bytes.count >= shortest else { return false }
        var isASCII = true
        for byte in bytes {
            guard 0x20..<0x7F ~= byte || byte >= 0x80 || 0x09...0x0D ~= byte else { return false }
            if byte >= 0x80 { isASCII = false }
        }
        return isASCII || (bytes.count >= shortestWide && isUTF8(bytes))
    }

    private static func isUTF8(_ bytes: UnsafeRawBufferPointer) -> Bool {
        do {
            _ = try UTF8Span(validating: bytes.bindMemory(to: UInt8.self).span)
            return true
        } catch { return false }
    }
}
