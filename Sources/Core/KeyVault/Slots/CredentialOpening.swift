internal import CryptoPrimitives
internal import Sealing
internal import SharedFiles

/// A slot that a credential opened.
struct OpenedSlot: Sendable {
    let slot: KeySlot
    let holder: HolderSecret
    let root: RootKey
}

/// Searches the slot that a credential opens.
///
/// A slot that cannot be tried does not end the search, because it may belong to another person or be planted. All
/// slots together may cost as much as one; the search tries cheap slots first.
struct SlotSearch {
    /// The limit on Argon2id calls for one opening: a planted file must not test many passphrases.
    static let maximumPassphraseSlots = 8

    let slots: [KeySlot]
    let vaultID: [UInt8]
    /// The vault's path, for errors.
    let path: String
    var isBackup = false

    private struct Attempt {
        let slot: KeySlot
        let opener: any SlotOpener
        let work: SlotWork
        let order: Int
    }

    /// - Parameter openers: Openers of one kind; an identity has one for each of its keys.
    /// - Throws: `VaultError`: the credential's mismatch code, or, if a slot was not tried and none opened, the reason:
    ///   `.corrupt`, `.outOfMemory`, `.tooCostly`. A missing slot, another commitment, an ephemeral key of low order
    ///   and a root that does not open throw the same error: a crafted file must not answer questions about a
    ///   credential.
    func open(with openers: [any SlotOpener]) throws(VaultError) -> OpenedSlot {
        guard let first = openers.first else { throw locked() }
        var refusal: VaultError?
        var spent = SlotWork.negligible
        for attempt in attempts(with: openers, &refusal) {
            guard spent + attempt.work <= .maximum else {
                refusal = refusal ?? tooCostly(attempt.slot)
                break
            }
            spent = spent + attempt.work
            do throws(CryptoError) {
                let holder = try attempt.opener.holder(parameters: attempt.slot.parameters[...], vaultID: vaultID)
                return OpenedSlot(
                    slot: attempt.slot, holder: holder, root: try attempt.slot.root(holder, vaultID: vaultID))
            } catch {
                // An ephemeral key of low order shows only after the credential gives the slot's public key.
                guard error.code != .authenticationFailed, error.code != .lowOrderPoint else { continue }
                refusal = refusal ?? self.refusal(error, attempt.slot)
            }
        }
        throw refusal ?? VaultError(first.mismatch, "open the vault", path, "No \(first.kind) slot opens with it.")
    }

    /// The cost of trying every passphrase slot.
    var totalWork: SlotWork {
        slots.filter { $0.kind == .passphrase }.reduce(.negligible) { sum, slot in
            let parameters = try? PassphraseParameters(parsing: slot.parameters[...])
            return sum + (parameters.map { SlotWork($0.costs) } ?? .negligible)
        }
    }

    func hasSlot(of kind: SlotKind) -> Bool { slots.contains { $0.kind == kind } }

    private func attempts(with openers: [any SlotOpener], _ refusal: inout VaultError?) -> [Attempt] {
        var attempts: [Attempt] = []
        for slot in slots {
            for opener in openers where opener.kind == slot.kind {
                do throws(CryptoError) {
                    let work = try opener.work(for: slot.parameters[...])
                    attempts.append(Attempt(slot: slot, opener: opener, work: work, order: attempts.count))
                } catch {
                    refusal = refusal ?? self.refusal(error, slot)
                }
            }
        }
        let sorted = attempts.sorted { ($0.work, $0.order) < ($1.work, $1.order) }
        guard openers.first?.kind == .passphrase else { return sorted }
        return Array(sorted.prefix(isBackup ? 1 : Self.maximumPassphraseSlots))
    }

    /// Returns the error for a vault without an available credential.
    func locked() -> VaultError {
        VaultError(
            .locked, "open the vault", path, "It opens with: \(kinds).",
            advice: "\(needsPerson ? "Unlock it (sealctl vault unlock), or give" : "Give") a credential that opens it "
                + "(\(kinds)); no new key was created.")
    }

    private var needsPerson: Bool { slots.contains { $0.reach == .whenUnlocked } }

    /// The names of the credentials of this vault, for messages.
    var kinds: String {
        let words = SlotKind.allCases.filter(hasSlot).map(\.opener)
        guard let last = words.last, words.count > 1 else { return words.first ?? "nothing" }
        return "\(words.dropLast().joined(separator: ", ")) or \(last)"
    }

    private func refusal(_ error: CryptoError, _ slot: KeySlot) -> VaultError {
        let others = "no other \(slot.kind) slot opens with the given credential."
        switch error.code {
        case .outOfMemory:
            return VaultError(
                .outOfMemory, "open the vault", path,
                "The memory that slot \(slot.id) needs is not available, and \(others)",
                advice: "Free memory, or open it with another slot.")
        default:
            return .corrupt(path, "Slot \(slot.id) has costs outside the bounds, and \(others)")
        }
    }

    private func tooCostly(_ slot: KeySlot) -> VaultError {
        VaultError(
            .tooCostly, "open the vault", path,
            "From slot \(slot.id) on, \(slot.kind) slots were not tried: together they cost more than one slot may.",
            advice: "Open it with another slot and remove the costly slots.")
    }
}

extension VaultError.Code {
    /// The system credential is intact and opens no slot.
    public static let wrongCredential = VaultError.Code(rawValue: "wrongCredential")
    /// The key slots together cost more to try than one slot may.
    public static let tooCostly = VaultError.Code(rawValue: "tooCostly")
}

/// The roots that a credential, or an earlier unlocking, gave.
struct OpenedRoots: Sendable {
    /// `nil` for keys that a person unlocked before.
    var slot: OpenedSlot?
    /// `nil` until it is read from the person compartment.
    var service: RootKey?
    var person: RootKey?
}

/// Opens one vault's slots with a credential.
struct CredentialOpening {
    let search: SlotSearch
    let place: VaultPlace
    /// The register whose commitments identify a ticket's root.
    let register: Register?

    /// - Parameter slots: The slots that the register lists.
    init(slots: [KeySlot], vaultID: [UInt8], register: Register?, _ place: VaultPlace) {
        search = SlotSearch(slots: slots, vaultID: vaultID, path: place.path)
        self.place = place
        self.register = register
    }

    /// - Throws: `VaultError`: `.locked`; a wrong credential's code; the refusals of a credential's file; the reason
    ///   why slots were not tried.
    func open(with credential: VaultCredential) throws(VaultError) -> OpenedRoots {
        switch credential {
        case .automatic: return try openUnasked()
        case .unlocked: return try openUnlocked()
        case .passphrase(let passphrase):
            return roots(try search.open(with: [PassphraseOpener(passphrase: passphrase)]))
        case .identity(let identity): return roots(try search.open(with: identity.keys.map(RecipientOpener.init)))
        case .defaultKeyFile: return try openUsualKeyFile()
        case .keyFile(let path): return try open(keyFile: path)
        case .systemdCredential(let name): return try open(credential: name ?? place.credentialName)
        }
    }

    private func roots(_ opened: OpenedSlot) -> OpenedRoots {
        let isPersons = opened.slot.reach == .whenUnlocked
        return OpenedRoots(
            slot: opened, service: isPersons ? nil : opened.root, person: isPersons ? opened.root : nil)
    }

    private func openUsualKeyFile() throws(VaultError) -> OpenedRoots {
        try open(keyFile: place.keyFilePath, at: .usual)
    }

    private func open(keyFile path: String, at location: SecretPlace = .stated) throws(VaultError) -> OpenedRoots {
        let key: SecretBytes
        do throws(VaultError) { key = try KeyFile.read(path: path, at: location) } catch {
            throw error.underlying?.code == .notFound ? missing(path) : error
        }
        return roots(try search.open(with: [KeyTextSlot(.keyFile, key: key)]))
    }

    private func open(credential name: String) throws(VaultError) -> OpenedRoots {
        roots(
            try search.open(with: [KeyTextSlot(.credential, key: try CredentialDirectory.current.read(name))]))
    }

    /// Tries files first, then the keys that a person unlocked. The first credential that exists and does not open
    /// decides the error.
    private func openUnasked() throws(VaultError) -> OpenedRoots {
        var reported: VaultError?
        if search.hasSlot(of: .keyFile) {
            do throws(VaultError) { return try openUsualKeyFile() } catch { reported = try passed(error) }
        }
        if search.hasSlot(of: .credential), CredentialDirectory.current.holds(place.credentialName) {
            do throws(VaultError) { return try open(credential: place.credentialName) } catch {
                let passed = try passed(error)
                reported = reported ?? passed
            }
        }
        do throws(VaultError) { return try openUnlocked() } catch {
            guard error.code == .locked else { throw error }
            throw reported ?? error
        }
    }

    /// Returns the error to report if nothing else opens; `nil` for another user's file. Throws damage and unsafe modes
    /// at once.
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
            "The key file does not exist; the vault opens with: \(search.kinds).",
            advice: "Restore it, or open the vault with another slot; no new key was created.")
    }

    /// Returns the service root that a person unlocked. A root without the register's commitment belongs to another
    /// vault.
    ///
    /// - Throws: `VaultError` `.locked`; `.unsafeFile` or `.file` for a cache that cannot be trusted or read.
    private func openUnlocked() throws(VaultError) -> OpenedRoots {
        guard let root = try UnlockCaches.current.serviceRoot(vaultID: search.vaultID),
            register.map({ root.commitment == $0.root || root.commitment == $0.nextRoot }) ?? true
        else { throw search.locked() }
        return OpenedRoots(slot: nil, service: root, person: nil)
    }
}

/// The credential with which a program opens a vault.
public enum VaultCredential: Sendable {
    /// The first available credential that needs no user interaction: the access group's key file or the unit's system
    /// credential, each if the vault has such a slot, or the keys that a person unlocked. A vault created with it gets
    /// the unit's credential if it exists, else the key file.
    case automatic
    /// The access group's key file in its usual place, for unattended programs. Creating the vault creates the file.
    case defaultKeyFile
    /// A key file in another place. The file must exist.
    case keyFile(path: String)
    /// A person's passphrase.
    case passphrase(Passphrase)
    /// A credential from `$CREDENTIALS_DIRECTORY` (systemd.exec(5), `LoadCredential=`) that contains a key-file text.
    /// The default name is `sealedstate.` and the access group.
    case systemdCredential(name: String?)
    /// X25519 keys of a person or program, if the vault has a slot for one of their recipients.
    case identity(Identity)
    /// The keys that a person unlocked, until they are locked.
    case unlocked
}
