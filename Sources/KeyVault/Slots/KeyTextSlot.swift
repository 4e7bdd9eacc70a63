internal import CryptoPrimitives
internal import SharedFiles

extension Personalization {
    /// The wrapping key of a credential slot; `docs/vault.md`, section 3, lists it.
    static let credentialSlot = Personalization("SealedState.vcr1")
}

/// Opens and makes slots of 32 random bytes that lie in a file: key files and system credentials. Parameters: salt 16.
///
/// The wrapping key is BLAKE2b keyed by those bytes over the salt and the vault's id. They hold full entropy, so no slow
/// hash is needed; the salt keeps two slots of one file apart, the personalisation a file that serves as both.
final class KeyTextSlot: SlotOpener, SlotMaker {
    static let saltSize = 16

    let kind: SlotKind
    let reach = SlotReach.afterFirstUnlock
    private let key: SecretBytes

    /// - Parameter kind: `.keyFile` or `.credential`.
    init(_ kind: SlotKind, key: consuming SecretBytes) {
        self.kind = kind
        self.key = key
    }

    var mismatch: VaultError.Code { kind == .credential ? .wrongCredential : .wrongKeyFile }

    func wrappingKey(vaultID: [UInt8]) -> WrappingKey {
        let salt = SecureRandom.bytes(count: Self.saltSize)
        return WrappingKey(parameters: salt, key: unwrappingKey(parameters: salt[...], vaultID: vaultID))
    }

    func unwrappingKey(parameters: ArraySlice<UInt8>, vaultID: [UInt8]) -> SecretBytes {
        let input = Array(parameters) + vaultID
        let use: Personalization = kind == .credential ? .credentialSlot : .keyFileSlot
        return key.withUnsafeBytes { key in
            SecretBytes(count: 32) { output in
                input.withRawBytes { BLAKE2b.hash($0, key: key, personalization: use, into: output) }
            }
        }
    }
}

/// Makes a slot for the access group's key file in its usual place, which is made with the first slot that needs it.
struct DefaultKeyFileMaker: SlotMaker {
    let place: VaultPlace

    var kind: SlotKind { .keyFile }
    var reach: SlotReach { .afterFirstUnlock }

    func wrappingKey(vaultID: [UInt8]) throws(VaultError) -> WrappingKey {
        let keys = try VaultError.onFiles("make the key file") { () throws(FileError) in
            try place.makeKeysDirectory()
        }
        let key = try KeyFile.readOrCreate(in: keys, leaf: place.keyFileLeaf)
        return KeyTextSlot(.keyFile, key: key).wrappingKey(vaultID: vaultID)
    }
}
