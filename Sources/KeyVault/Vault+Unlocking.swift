internal import CryptoPrimitives
internal import SharedFiles

/// Finding the slot that a credential opens.
extension Vault {
    static func unlock(
        _ header: VaultHeader, _ place: VaultPlace, with credential: VaultCredential
    ) throws(VaultError) -> VaultSecrets {
        switch credential {
        case .passphrase(let passphrase):
            try requireSlot(.passphrase, header, place)
            return try open(header, place, with: PassphraseSlot(passphrase: passphrase), otherwise: .wrongPassphrase)
        case .defaultKeyFile:
            return try unlock(header, place, keyFile: place.keyFilePath)
        case .keyFile(let path):
            return try unlock(header, place, keyFile: path)
        }
    }

    private static func unlock(
        _ header: VaultHeader, _ place: VaultPlace, keyFile path: String
    ) throws(VaultError) -> VaultSecrets {
        try requireSlot(.keyFile, header, place)
        return try open(header, place, with: KeyFileSlot(key: try KeyFile.read(path: path)), otherwise: .wrongKeyFile)
    }

    /// A vault without a slot of that kind is locked for whoever has only that kind of credential.
    private static func requireSlot(
        _ kind: SlotKind, _ header: VaultHeader, _ place: VaultPlace
    ) throws(VaultError) {
        guard !header.slots.contains(where: { $0.kind == kind }) else { return }
        let kinds = Set(header.slots.map(\.kind.description)).sorted().joined(separator: ", ")
        throw VaultError(
            .locked, "open the vault", place.path, "It has no \(kind) slot; it opens with: \(kinds).",
            advice: "Give the \(kinds) that opens it; no new key is made meanwhile.")
    }

    private static func open(
        _ header: VaultHeader, _ place: VaultPlace, with credential: some SlotCredential,
        otherwise code: VaultError.Code
    ) throws(VaultError) -> VaultSecrets {
        for slot in header.slots where slot.kind == type(of: credential).kind {
            do throws(CryptoError) {
                return try credential.open(slot, vaultID: header.vaultID)
            } catch {
                if error.code == .authenticationFailed { continue }
                throw VaultError(error, slot, place)
            }
        }
        throw VaultError(code, "open the vault", place.path, "No \(type(of: credential).kind) slot opens with it.")
    }
}

extension VaultError {
    /// What a primitive's refusal means for a slot.
    init(_ error: CryptoError, _ slot: KeySlot, _ place: VaultPlace) {
        switch error.code {
        case .outOfMemory:
            self.init(
                .outOfMemory, "open the vault", place.path, "The memory that slot \(slot.id) asks for cannot be had.",
                advice: "Free memory, or open it with another slot.")
        default:
            self.init(
                .corrupt, "open the vault", place.path, "Slot \(slot.id) asks for costs outside the bounds.")
        }
    }
}
