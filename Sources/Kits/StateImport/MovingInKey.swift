internal import CryptoPrimitives
internal import KeyVault
internal import SealedState
internal import SharedFiles

/// Where the key of a file comes from that another program has sealed. It is 32 bytes: as they are, or as base64 or
/// hexadecimal text.
public struct MovingInKey: Sendable {
    enum Source: Sendable {
        case file(String)
        case item(service: String, account: String)
        case secret(SharedSecret)
    }

    let source: Source

    /// A file.
    public static func file(_ path: String) -> MovingInKey { MovingInKey(source: .file(path)) }

    /// An item of the group's vault.
    public static func item(service: String, account: String) -> MovingInKey {
        MovingInKey(source: .item(service: service, account: account))
    }

    /// A key that was read already, in any of the three forms.
    package static func secret(_ bytes: consuming SecretBytes) -> MovingInKey {
        MovingInKey(source: .secret(SharedSecret(bytes)))
    }

    /// The most bytes that a key's text may have, its line end included.
    package static let longestText = 256

    /// A secret that several values may refer to.
    final class SharedSecret: Sendable {
        let bytes: SecretBytes
        init(_ bytes: consuming SecretBytes) { self.bytes = bytes }
    }

    /// The 32 bytes.
    ///
    /// - Throws: `StoreError` `.wrongKey` for anything that is none of the three forms; those of reading it.
    func bytes(from store: SealedStore) throws(StoreError) -> SecretBytes {
        switch source {
        case .file(let path): return try Self.read(path)
        case .secret(let secret):
            return try secret.bytes.withUnsafeBytes { text throws(StoreError) in try Self.key(in: text) }
        case .item(let service, let account):
            let found: Result<SharedSecret, StoreError>
            do throws(VaultError) {
                found = try store.vault.withValue(service: service, account: account) { value in
                    Result { () throws(StoreError) in SharedSecret(try Self.key(in: value)) }
                }
            } catch { throw StoreError(error, "take the key from") }
            let secret = try found.get()
            return secret.bytes.withUnsafeBytes { SecretBytes(copying: $0) }
        }
    }

    private static func read(_ path: String) throws(StoreError) -> SecretBytes {
        let source = try PlaintextSource(path: path, isDryRun: true)
        var count = 0
        let text: SecretBytes
        do throws(FileError) {
            text = try SecretBytes(count: longestText) { buffer throws(FileError) in
                count = try source.descriptor.pread(into: buffer, at: 0)
            }
        } catch { throw StoreError(reading: error, path) }
        return try text.withUnsafeBytes { text throws(StoreError) in
            try key(in: UnsafeRawBufferPointer(rebasing: text[..<count]))
        }
    }

    /// Told apart by length: 32 bytes are the key itself, 64 characters are hexadecimal, 43 or 44 are base64.
    private static func key(in text: UnsafeRawBufferPointer) throws(StoreError) -> SecretBytes {
        if text.count == AES256GCM.keySize { return SecretBytes(copying: text) }
        let line = UnsafeRawBufferPointer(rebasing: text[..<(text.lastIndex { !$0.isLineEnd }.map { $0 + 1 } ?? 0)])
        do throws(CryptoError) {
            switch line.count {
            case 64:
                return try SecretBytes(count: AES256GCM.keySize) { key throws(CryptoError) in
                    try Hexadecimal.decode(line, into: key)
                }
            case 43, 44:
                return try SecretBytes(count: AES256GCM.keySize) { key throws(CryptoError) in
                    try Base64Key.decode(line, into: key)
                }
            default: throw CryptoError(.malformedEncoding, "key")
            }
        } catch {
            if error.code == .outOfMemory {
                throw StoreError(VaultError.noSecretMemory(count: AES256GCM.keySize), "read the key of")
            }
            throw StoreError(
                .wrongKey, "read", "the key", "It has \(text.count) bytes and is no key of AES-256-GCM.",
                advice: "Give 32 bytes as they are, or as base64 or hexadecimal text.")
        }
    }
}

extension UInt8 {
    fileprivate var isLineEnd: Bool { self == 0x0A || self == 0x0D }
}

/// Base64 of a 32-byte key (RFC 4648, sections 4 and 5), without a table whose look-ups would leak it through the cache.
enum Base64Key {
    /// - Parameters:
    ///   - text: 43 characters, and the one for padding or not.
    ///   - key: 32 bytes.
    /// - Throws: `CryptoError` `.malformedEncoding`.
    static func decode(_ text: UnsafeRawBufferPointer, into key: UnsafeMutableRawBufferPointer) throws(CryptoError) {
        guard text.count == 43 || (text.count == 44 && text[43] == UInt8(ascii: "=")), key.count == 32 else {
            throw CryptoError(.malformedEncoding, "base64 decoding")
        }
        var bits: UInt32 = 0
        var count = 0
        var target = 0
        var isValid = true
        for character in text[..<43] {
            let value = value(of: character)
            isValid = isValid && value < 64
            bits = bits << 6 | value & 63
            count += 6
            guard count >= 8 else { continue }
            count -= 8
            key[target] = UInt8(truncatingIfNeeded: bits >> UInt32(count))
            target += 1
        }
        // 43 characters have two bits more than 32 bytes; in what an encoder wrote they are zero.
        guard isValid, bits & 3 == 0 else { throw CryptoError(.malformedEncoding, "base64 decoding") }
    }

    /// 64 for what is no character of either alphabet. Every comparison is made, whatever the character.
    private static func value(of character: UInt8) -> UInt32 {
        let c = UInt32(character)
        var value: UInt32 = 64
        value = select(c, 0x41...0x5A, c &- 0x41, value)
        value = select(c, 0x61...0x7A, c &- 0x61 &+ 26, value)
        value = select(c, 0x30...0x39, c &- 0x30 &+ 52, value)
        value = select(c, 0x2B...0x2B, 62, value)
        value = select(c, 0x2D...0x2D, 62, value)
        value = select(c, 0x2F...0x2F, 63, value)
        return select(c, 0x5F...0x5F, 63, value)
    }

    private static func select(_ c: UInt32, _ range: ClosedRange<UInt32>, _ inside: UInt32, _ outside: UInt32) -> UInt32
    {
        // All bits set where it lies inside.
        let mask = (range.lowerBound &- 1 &- c) & (c &- range.upperBound &- 1)
        let all = 0 &- (mask >> 31)
        return inside & all | outside & ~all
    }
}
