internal import CryptoPrimitives
internal import SharedFiles

/// A key slot to create.
public enum NewSlot: Sendable {
    /// A passphrase, at the given costs. It reaches the whole vault.
    case passphrase(Passphrase, PassphraseCosts = .recommended)
    /// An existing key file. It reaches the keys and items available after the first unlock.
    case keyFile(path: String)
    /// The access group's key file in its usual place, created if it is missing. It has the reach of `keyFile`.
    case defaultKeyFile
    /// A system credential by its name, or by the usual one (``VaultCredential/systemdCredential(name:)``). It has the
    /// reach of `keyFile`.
    case systemdCredential(name: String?)
    /// Another holder's recipient. It reaches the whole vault or, if unattended, as much as `keyFile`.
    case recipient(Recipient, unattended: Bool = false)

    /// The slot of this identity's own recipient. It has the reach of `recipient`; the holder recognises the vault by
    /// it from the first opening on.
    case identity(Identity, unattended: Bool = false)

    /// Returns the maker of such slots. Faults that a user has to fix are thrown here, before anything is created.
    ///
    /// - Throws: `VaultError`: `.file`, `.unsafeFile`, `.denied` or `.malformedKeyFile` for a key file, `.noCredential`
    ///   for a missing system credential.
    func maker(for place: VaultPlace) throws(VaultError) -> any SlotMaker {
        switch self {
        case .passphrase(let passphrase, let costs): return PassphraseMaker(passphrase: passphrase, costs: costs)
        case .keyFile(let path): return KeyTextSlot(.keyFile, key: try Self.lastingKeyFile(path))
        case .defaultKeyFile:
            // Report a damaged file now. A missing file is created with the slot, not before.
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

    /// Returns the same slot, owned by the holder if the credential is the identity of its recipient.
    func owned(by credential: VaultCredential?) -> NewSlot {
        guard case .recipient(let recipient, let isUnattended) = self, case .identity(let identity)? = credential,
            identity.recipient == recipient
        else { return self }
        return .identity(identity, unattended: isUnattended)
    }

    /// - Throws: `VaultError` `.unsafeFile` for a pipe: its contents, the slot's only key, would be lost.
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
    /// Creates the slot for a new vault that this credential did not find.
    ///
    /// - Throws: `VaultError` `.invalidArgument` for unlocked keys, which open only existing vaults.
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
                "Unlocked keys open an existing vault; they cannot create one.",
                advice: "Give a passphrase, a key file, a system credential or an identity.")
        }
    }
}
