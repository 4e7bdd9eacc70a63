/// Base64 (RFC 4648, section 4) as XML property lists break it into lines.
package enum Base64 {
    private static let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)
    private static let padding = UInt8(ascii: "=")

    private static let values: [UInt8] = {
        var values = [UInt8](repeating: 0xFF, count: 256)
        for (value, character) in alphabet.enumerated() { values[Int(character)] = UInt8(value) }
        return values
    }()

    /// Takes white space anywhere, and nothing else that does not belong.
    /// - Throws: `StructureFault` `.malformed`, also where padding is missing.
    package static func decode(_ text: UnsafeRawBufferPointer) throws(StructureFault) -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(text.count / 4 * 3)
        var (bits, count, pads) = (UInt32(0), 0, 0)
        for character in text where !XMLScanner.isSpace(character) {
            let value = values[Int(character)]
            guard character == padding ? count >= 2 : value != 0xFF && pads == 0 else {
                throw .malformed("data that is not Base64")
            }
            if character == padding { pads += 1 }
            bits = bits << 6 | UInt32(character == padding ? 0 : value)
            count += 1
            guard count == 4 else { continue }
            for index in 0..<3 - pads { bytes.append(UInt8(bits >> (16 - 8 * UInt32(index)) & 0xFF)) }
            (bits, count) = (0, pads > 0 ? 4 : 0)
        }
        guard count == 0 || (count == 4 && pads > 0) else { throw .malformed("data that is cut off") }
        return bytes
    }

    package static func encode(_ bytes: [UInt8]) -> [UInt8] {
        var text: [UInt8] = []
        text.reserveCapacity((bytes.count + 2) / 3 * 4)
        for start in stride(from: 0, to: bytes.count, by: 3) {
            let left = bytes.count - start
            let group =
                UInt32(bytes[start]) << 16 | (left > 1 ? UInt32(bytes[start + 1]) << 8 : 0)
                | (left > 2 ? UInt32(bytes[start + 2]) : 0)
            for index in 0..<4 {
                text.append(index <= left ? alphabet[Int(group >> (18 - 6 * UInt32(index)) & 0x3F)] : padding)
            }
        }
        return text
    }
}
