internal import CryptoPrimitives
internal import SharedFiles

extension Vault {
    /// The secrets that a credential opens.
    ///
    /// - Throws: `VaultError`; see `CredentialOpening`.
    static func unlock(
        _ head: VaultHead, _ place: VaultPlace, with credential: VaultCredential
    ) throws(VaultError) -> VaultSecrets {
        let opened = try CredentialOpening(head, place).open(with: credential)
        return opened.takeSecrets()
    }
}

/// Opens one vault's slots with whatever credential is presented.
struct CredentialOpening {
    let search: SlotSearch
    let place: VaultPlace
    private let head: VaultHead

    init(_ head: VaultHead, _ place: VaultPlace) {
        search = SlotSearch(slots: head.header.slots, vaultID: head.header.vaultID, path: place.path)
        self.place = place
        self.head = head
    }

    /// - Throws: `VaultError`: `.locked`; a wrong credential's code; what a credential's file is refused for; what kept
    ///   slots from being tried.
    func open(with credential: VaultCredential) throws(VaultError) -> OpenedSlot {
        switch credential {
        case .automatic: try openUnasked()
        case .unlocked: try openUnlocked()
        case .passphrase(let passphrase): try search.open(with: [PassphraseOpener(passphrase: passphrase)])
        case .identity(let identity): try search.open(with: identity.keys.map(RecipientOpener.init))
        case .defaultKeyFile: try open(keyFile: place.keyFilePath)
        case .keyFile(let path): try open(keyFile: path)
        case .systemdCredential(let name): try open(credential: name ?? place.credentialName)
        }
    }

    private func open(keyFile path: String) throws(VaultError) -> OpenedSlot {
        // Asked first: a key file that cannot help is not even looked at.
        guard search.hasSlot(of: .keyFile) else { throw search.locked(.keyFile) }
        let key: SecretBytes
        do throws(VaultError) { key = try KeyFile.read(path: path) } catch {
            throw error.underlying?.code == .notFound ? missing(path) : error
        }
        return try search.open(with: [KeyTextSlot(.keyFile, key: key)])
    }

    private func open(credential name: String) throws(VaultError) -> OpenedSlot {
        guard search.hasSlot(of: .credential) else { throw search.locked(.credential) }
        return try search.open(with: [KeyTextSlot(.credential, key: try CredentialDirectory.current.read(name))])
    }

    /// What lies about first; what a person unlocked after that. The first thing that was there and did not open decides
    /// what is told in the end.
    private func openUnasked() throws(VaultError) -> OpenedSlot {
        var told: VaultError?
        if search.hasSlot(of: .keyFile) {
            do throws(VaultError) { return try open(keyFile: place.keyFilePath) } catch { told = try passed(error) }
        }
        if search.hasSlot(of: .credential), CredentialDirectory.current.holds(place.credentialName) {
            do throws(VaultError) { return try open(credential: place.credentialName) } catch {
                let passed = try passed(error)
                told = told ?? passed
            }
        }
        do throws(VaultError) { return try openUnlocked() } catch {
            guard error.code == .locked else { throw error }
            throw told ?? error
        }
    }

    /// What is to be told if nothing else opens; nil for what is another user's, who does not concern this one. Damage and
    /// unsafe modes are told at once, not worked around.
    private func passed(_ error: VaultError) throws(VaultError) -> VaultError? {
        switch error.code {
        case .denied: return nil
        case .locked, .wrongKeyFile, .wrongCredential: return error
        default: throw error
        }
    }

    private func missing(_ path: String) -> VaultError {
        VaultError(
            .locked, "open with key file", path,
            "There is no such key file; the vault opens with: \(search.kinds).",
            advice: "Restore it, or open the vault with what else opens it; no new key is made meanwhile.")
    }

    /// The keys that a person unlocked and that are still at hand. Another root than the vault's is none: it was put there
    /// by somebody who has no part in the vault.
    ///
    /// - Throws: `VaultError` `.locked`; `.unsafeFile` or `.file` for a cache that cannot be trusted or read.
    private func openUnlocked() throws(VaultError) -> OpenedSlot {
        guard let secrets = try UnlockCaches.current.secrets(vaultID: search.vaultID),
            VaultHeader.isAuthentic(head, root: secrets.root) || VaultSealing.isBody(of: head, under: secrets.root)
        else { throw search.locked(nil) }
        return OpenedSlot(id: nil, secrets: secrets)
    }
}
