internal import CryptoPrimitives

/// A key file's slot: BLAKE2b keyed by the file's 32 bytes over a salt and the vault's id. Parameters: salt 16.
///
/// The file holds full entropy, so no slow hash is needed; the salt keeps two slots of one file apart.
final class KeyFileSlot: SlotCredential {
    static let kind = SlotKind.keyFile
    static let parameterSize = 16

    private let key: SecretBytes

    init(key: consuming SecretBytes) { self.key = key }

    func freshParameters() -> [UInt8] { SecureRandom.bytes(count: Self.parameterSize) }

    func wrappingKey(parameters: ArraySlice<UInt8>, vaultID: [UInt8]) throws(CryptoError) -> SecretBytes {
        let input = Array(parameters) + vaultID
        return key.withUnsafeBytes { key in
            SecretBytes(count: 32) { output in
                input.withRawBytes { BLAKE2b.hash($0, key: key, personalization: .keyFileSlot, into: output) }
            }
        }
    }
}
