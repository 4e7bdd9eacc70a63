internal import PropertyLists

/// Detects bytes that may be a bare key: of a key's size, and random as far as so few bytes show.
enum KeyMaterial {
    /// AES-128 to AES-256, ChaCha20, X25519, Ed25519 seeds, HMAC keys; an Ed25519 secret key, an XTS key.
    private static let sizes: Set<Int> = [16, 24, 32, 48, 64]

    /// Returns whether a whole file is a key, raw or in letters.
    static func isLikely(_ bytes: [UInt8]) -> Bool {
        guard bytes.count <= 130 else { return false }
        if isRaw(bytes) { return true }
        let text = bytes.last == 0x0A ? bytes.dropLast(bytes.dropLast().last == 0x0D ? 2 : 1) : bytes[...]
        guard let decoded = decoded(text) else { return false }
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

    /// In one piece: words with spaces between them are text.
    private static func decoded(_ text: ArraySlice<UInt8>) -> [UInt8]? {
        guard text.count >= 22, !text.contains(where: { $0 <= 0x20 }) else { return nil }
        return text.withUnsafeBytes { (text.count >= 32 ? HexDigits.decode($0) : nil) ?? Base64.decode($0) }
    }
}
