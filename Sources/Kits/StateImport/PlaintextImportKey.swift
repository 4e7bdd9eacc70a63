package import CryptoPrimitives
internal import KeyVault
internal import SealedState
internal import SharedFiles

/// The source of the key of a file that another program has sealed: 32 bytes, either raw or as base64 or hexadecimal
/// text.
public struct PlaintextImportKey: Sendable {
    enum Source: Sendable {
        case file(String)
        case item(service: String, account: String)
        case secret(SharedSecret)
    }

    let source: Source

    /// Returns a key in a file.
    public static func file(_ path: String) -> PlaintextImportKey { PlaintextImportKey(source: .file(path)) }

    /// Returns a key in an item of the group's vault.
    public static func item(service: String, account: String) -> PlaintextImportKey {
        PlaintextImportKey(source: .item(service: service, account: account))
    }

    /// Returns a key that was read already, in any of the three forms.
    package static func secret(_ bytes: consuming SecretBytes) -> PlaintextImportKey {
        PlaintextImportKey(source: .secret(SharedSecret(bytes)))
    }

    /// The maximum length of a key's text in bytes, with its line end.
    package static let longestText = 256

    /// A secret that several values may refer to.
    final class SharedSecret: Sendable {
        let bytes: SecretBytes
        init(_ bytes: consuming SecretBytes) { self.bytes = bytes }
    }

    /// Returns the 32 bytes.
    ///
    /// - Throws: `StoreError` `.wrongKey` for text in another form; those of reading it.
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
            } catch { throw StoreError(error, "read the key from") }
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

    /// Returns the key. The length identifies the form: 32 bytes are the key itself, 64 characters are hexadecimal, 43
    /// or 44 are base64.
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
                    try SecretBase64.decode(line, into: key)
                }
            default: throw CryptoError(.malformedEncoding, "key")
            }
        } catch {
            if error.code == .outOfMemory {
                throw StoreError(VaultError.noSecretMemory(count: AES256GCM.keySize), "read the key of")
            }
            throw StoreError(
                .wrongKey, "read", "the key", "It has \(text.count) bytes and is not a key of AES-256-GCM.",
                advice: "Give 32 raw bytes, or base64 or hexadecimal text.")
        }
    }
}

extension UInt8 {
    fileprivate var isLineEnd: Bool { self == 0x0A || self == 0x0D }
}
