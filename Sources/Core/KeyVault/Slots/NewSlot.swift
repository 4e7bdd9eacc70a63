internal import CryptoPrimitives
internal import SharedFiles

/// A key slot that is to be made.
public enum NewSlot: Sendable {
    /// A passphrase, at the given costs. It reaches all that the vault holds.
    case passphrase(Passphrase, PassphraseCosts = .recommended)
    /// A key file that exists; never made unasked. It reaches what is available after the first unlock.
    case keyFile(path: String)
    /// The access group's key file in its usual place, made if it is missing. It reaches as much as `keyFile`.
    case defaultKeyFile
    /// A system credential by its name, or by the usual one (``VaultCredential/systemdCredential(name:)``). It reaches
    /// as much as `keyFile`.
    case systemdCredential(name: String?)
    /// Somebody's recipient. It reaches all that the vault holds, or as much as `keyFile` where nobody attends to it.
    case recipient(Recipient, unattended: Bool = false)

    /// The slot of this identity's own recipient. It reaches as much as `recipient`; the holder recognises the vault by it
    /// from the first opening on.
    case identity(Identity, unattended: Bool = false)

    /// What makes such slots. Whatever a person has to mend shows here, before anything is made.
    ///
    /// - Throws: `VaultError`: `.file`, `.unsafeFile`, `.denied` or `.malformedKeyFile` for a key file, `.noCredential`
    ///   for a system credential that is not there.
    func maker(for place: VaultPlace) throws(VaultError) -> any SlotMaker {
        switch self {
        case .passphrase(let passphrase, let costs): return PassphraseMaker(passphrase: passphrase, costs: costs)
        case .keyFile(let path): return KeyTextSlot(.keyFile, key: try Self.lastingKeyFile(path))
        case .defaultKeyFile:
            // A damaged one is told now; a missing one is made with the slot, not before.
            if try KeyFile.exists(path: place.keyFilePath) { _ = try KeyFile.read(path: place.keyFilePath, at: .usual) }
            return DefaultKeyFileMaker(place: place)
        case .systemdCredential(let name):
            return KeyTextSlot(.credential, key: try CredentialDirectory.current.read(name ?? place.credentialName))
        case .recipient(let recipient, let isUnattended):
            return RecipientMaker(recipient: recipient, isUnattended: isUnattended)
        case .identity(let identity, let isUnattended):
            return RecipientMaker(
                recipient: identity.recipient, isUnattended: isUnattended, holder: identity.keys[0].holder)
        }
    }

    /// The same slot, made by its holder where the credential is that of its recipient.
    func owned(by credential: VaultCredential?) -> NewSlot {
        guard case .recipient(let recipient, let isUnattended) = self, case .identity(let identity)? = credential,
            identity.recipient == recipient
        else { return self }
        return .identity(identity, unattended: isUnattended)
    }

    /// - Throws: `VaultError` `.unsafeFile` for a pipe: what it gives is gone, and with it the slot's only key.
    private static func lastingKeyFile(_ path: String) throws(VaultError) -> SecretBytes {
        let kind = (try? Descriptor.openForReading(path: path).attributes())?.kind
        guard kind == nil || kind == .regular else {
            throw VaultError(
                FileError(.notRegularFile, operation: "read", path: path), "read the key file", role: .input)
        }
        return try KeyFile.read(path: path)
    }
}

extension NewSlot {
    /// The slot of a vault that is made because this credential found none.
    ///
    /// - Throws: `VaultError` `.invalidArgument` for keys that a person unlocked, which open only what exists.
    init(for credential: VaultCredential, _ place: VaultPlace) throws(VaultError) {
        switch credential {
        case .automatic:
            let isInUnit = CredentialDirectory.current.holds(place.credentialName)
            self = isInUnit ? .systemdCredential(name: nil) : .defaultKeyFile
        case .defaultKeyFile: self = .defaultKeyFile
        case .keyFile(let path): self = .keyFile(path: path)
        case .passphrase(let passphrase): self = .passphrase(passphrase)
        case .systemdCredential(let name): self = .systemdCredential(name: name)
        case .identity(let identity): self = .identity(identity)
        case .unlocked:
            throw VaultError(
                .invalidArgument, "make the vault", place.path,
                "Unlocked keys open a vault that exists; they make none.",
                advice: "Give a passphrase, a key file, a system credential or an identity.")
        }
    }
}
