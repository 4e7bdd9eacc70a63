/// Detects bytes that may be a bare key: of a key's size, and random as far as so few bytes show.
enum KeyMaterial {
    /// AES-128 to AES-256, ChaCha20, X25519, Ed25519 seeds, HMAC keys; an Ed25519 secret key, an XTS key.
    private static let sizes: Set<Int> = [16, 24, 32, 48, 64]

    /// Returns whether a whole file is a key, raw or in letters.
    static func isLikely(_ bytes: [UInt8]) -> Bool {
        guard bytes.count <= 130 else { return false }
        if isRaw(bytes) { return true }
        let text = bytes.last == 0x0A ? bytes.dropLast(bytes.dropLast().last == 0x0D ? 2 : 1) : bytes[...]
        guard let decoded = hexadecimal(text) ?? base64(text) else { return false }
        return isRaw(decoded)
    }

    /// Returns whether the bytes have a key's size and are neither text nor repetition.
    static func isRaw(_ bytes: some Collection<UInt8>) -> Bool {
        guard sizes.contains(bytes.count) else { return false }
        let beyondText = bytes.count { $0 >= 0x80 || $0 < 0x20 }
        // Half of random bytes are not ASCII, and few are equal: 16 bytes have 15.5 distinct values on average, 64 have
        // 57.
        return beyondText * 5 >= bytes.count && Set(bytes).count * 4 >= bytes.count * 3
    }

    private static func hexadecimal(_ text: ArraySlice<UInt8>) -> [UInt8]? {
        guard text.count % 2 == 0, text.count >= 32 else { return nil }
        var bytes: [UInt8] = []
        var high: UInt8?
        for letter in text {
            guard let digit = Character(Unicode.Scalar(letter)).hexDigitValue else { return nil }
            if let first = high {
                bytes.append(first << 4 | UInt8(digit))
                high = nil
            } else {
                high = UInt8(digit)
            }
        }
        return bytes
    }

    private static func base64(_ text: ArraySlice<UInt8>) -> [UInt8]? {
        let letters = text.prefix { $0 != UInt8(ascii: "=") }
        guard letters.count >= 22, text.count - letters.count <= 2,
            text.dropFirst(letters.count).allSatisfy({ $0 == 0x3D })
        else { return nil }
        var bytes: [UInt8] = []
        var bits: UInt32 = 0
        var count = 0
        for letter in letters {
            guard let value = base64Value(letter) else { return nil }
            bits = bits << 6 | value
            count += 6
            guard count >= 8 else { continue }
            count -= 8
            bytes.append(UInt8(truncatingIfNeeded: bits >> UInt32(count)))
        }
        return bytes
    }

    private static func base64Value(_ letter: UInt8) -> UInt32? {
        switch letter {
        case UInt8(ascii: "A")...UInt8(ascii: "Z"): UInt32(letter - 65)
        case UInt8(ascii: "a")...UInt8(ascii: "z"): UInt32(letter - 97) + 26
        case UInt8(ascii: "0")...UInt8(ascii: "9"): UInt32(letter - 48) + 52
        case UInt8(ascii: "+"), UInt8(ascii: "-"): 62
        case UInt8(ascii: "/"), UInt8(ascii: "_"): 63
        default: nil
        }
    }
}
