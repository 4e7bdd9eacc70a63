/// The name of an opaque container's directory: a random UUID (RFC 9562, version 4) in capitals, as on iOS.
///
/// No app group has such an identifier: its first component has eight characters and a hyphen.
enum OpaqueName {
    static func random() -> String {
        var generator = SystemRandomNumberGenerator()
        var bytes = (0..<16).map { _ in UInt8.random(in: .min ... .max, using: &generator) }
        bytes[6] = bytes[6] & 0x0F | 0x40
        bytes[8] = bytes[8] & 0x3F | 0x80
        var name = ""
        for byte in bytes {
            if hyphens.contains(name.utf8.count) { name += "-" }
            name += digits[Int(byte >> 4)] + digits[Int(byte & 15)]
        }
        return name
    }

    /// Whether a name has the form, whoever made it.
    static func isWellFormed(_ name: String) -> Bool {
        let bytes = Array(name.utf8)
        return bytes.count == 36
            && bytes.enumerated().allSatisfy { offset, byte in
                hyphens.contains(offset) ? byte == UInt8(ascii: "-") : isDigit(byte)
            }
    }

    private static let hyphens: Set = [8, 13, 18, 23]
    private static let digits = "0123456789ABCDEF".map(String.init)

    private static func isDigit(_ byte: UInt8) -> Bool {
        (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) || (UInt8(ascii: "A")...UInt8(ascii: "F")).contains(byte)
    }
}
