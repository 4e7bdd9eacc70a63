internal import AppGroups
internal import Glibc
internal import KeyVault
internal import SharedFiles

/// A check that opens the vault as `get` does, but leaves no trace.
enum VaultCheck {
    static func examine(_ group: AccessGroup, in home: GroupsHome) -> [Diagnosis] {
        opening(group, in: home) + unprotected(group, home)
    }

    private static func opening(_ group: AccessGroup, in home: GroupsHome) -> [Diagnosis] {
        let place = VaultPlace(group, in: home)
        let attempt: Attempt
        do throws(Failure) { attempt = try Attempt.ofSettings() } catch { return [.fail("vault", error)] }
        do throws(VaultError) {
            let found = try Vault.inventory(group, in: home, with: attempt.credential)
            return [.ok("vault", "\(place.path) can be opened"), accepted(found.watermarks)]
        } catch {
            switch error.code {
            case .absent: return [absent(group, error, place.path)]
            case .locked where !attempt.isStated: return [locked(group, in: home, place, attempt)]
            default: return [.fail("vault", Failure(error))]
            }
        }
    }

    private static func absent(_ group: AccessGroup, _ error: VaultError, _ path: String) -> Diagnosis {
        if let lost = try? LostVault.failure(of: group, for: error) { return .fail("vault", lost) }
        return .fail("vault", "it does not exist: \(path)", remedy: "sealctl init")
    }

    private static func locked(
        _ group: AccessGroup, in home: GroupsHome, _ place: VaultPlace, _ attempt: Attempt
    ) -> Diagnosis {
        if let file = attempt.passphraseFile {
            return .ok("vault", "\(place.path) opens with the passphrase in \(file), which was not tried")
        }
        if let file = attempt.protectedIdentity {
            return .ok("vault", "\(place.path) opens with the identity in \(file), whose passphrase was not asked for")
        }
        let slots = (try? Vault.status(group, in: home))?.slots ?? []
        let openers = slots.map(\.kind.description).joined(separator: ", ")
        let isKeyFileGone = slots.contains { $0.kind == .keyFile } && access(place.keyFilePath, F_OK) != 0
        let reason = isKeyFileGone ? ", because the key file \(place.keyFilePath) does not exist" : ""
        return .warn(
            "vault", "\(place.path) is locked\(reason); it opens with: \(openers)",
            remedy: (isKeyFileGone ? "Restore the key file, or: " : "") + opening(slots))
    }

    /// Returns the commands and options that can open a vault with these slots. `vault unlock` keeps a vault open that
    /// a person opens, so without a person's slot it has nothing to ask for.
    private static func opening(_ slots: [SlotSummary]) -> String {
        let kinds = SlotKind.allCases.filter { kind in slots.isEmpty || slots.contains { $0.kind == kind } }
        let options = kinds.map { kind in
            switch kind {
            case .passphrase: "--passphrase"
            case .keyFile: "--key-file FILE"
            case .credential: "--credential NAME"
            case .recipient: "--identity FILE"
            }
        }
        let unlock = slots.contains { $0.reach == .whenUnlocked } ? ["sealctl vault unlock"] : []
        return "\((unlock + options).joined(separator: ", or ")) opens it."
    }

    /// Warns of key files without a passphrase: a program that can read one has all rights of its owner.
    private static func unprotected(_ group: AccessGroup, _ home: GroupsHome) -> [Diagnosis] {
        let slots = UnprotectedKeyFile.slots(of: group, in: home)
        return UnprotectedKeyFile.all(stated: StatedKeyFiles.ofSettings, in: home).compactMap { file -> Diagnosis? in
            switch file.kind {
            case .identity where file.reachesWhenUnlocked(slots) != false:
                .warn(
                    "identity",
                    "\(file.path) has no passphrase and \(slots == nil ? "may reach" : "reaches") what is available when unlocked",
                    remedy:
                        "sealctl vault identity --protected NEW, add its recipient, then remove this identity's slot")
            case .identity: nil
            case .writerKey:
                .warn(
                    "writer-key", "\(file.path) has no passphrase: every program that can read it signs as this writer",
                    remedy: "sealctl writer new --protected NEW, or keep it where only its program can read it")
            case .teamKey:
                .warn(
                    "team-key", "\(file.path) has no passphrase: every program that can read it signs for its team",
                    remedy:
                        "sealctl roster sign --team-key FILE --succeeded-by NEW, with NEW protected and kept offline")
            }
        }
    }

    private static func accepted(_ condition: WatermarkCondition) -> Diagnosis {
        guard let (message, hint) = WatermarkWarning.text(condition) else { return .ok("watermarks", "\(condition)") }
        return .warn("watermarks", message, remedy: hint)
    }
}

/// The credential from the settings.
private struct Attempt {
    let credential: VaultCredential
    /// True if the credential was stated. Every reason why it does not open the vault is an error then.
    let isStated: Bool
    /// The file with a passphrase. Testing a passphrase takes time by design, so it is left to other commands.
    let passphraseFile: String?
    /// The file of an identity whose passphrase was not requested.
    private(set) var protectedIdentity: String?

    static func ofSettings() throws(Failure) -> Attempt {
        guard let (name, value) = Settings.current.credential else { return Attempt(.automatic, isStated: false) }
        switch name {
        case .keyFile: return Attempt(.keyFile(path: value.text))
        case .identity:
            return try Attempt.ofIdentity(value.text)
        case .credential: return Attempt(.systemdCredential(name: value.text))
        default:
            guard access(value.text, R_OK) == 0 else {
                throw Failure(FileError(errno: errno, operation: "read the passphrase from", path: value.text))
            }
            return Attempt(.automatic, isStated: false, passphraseFile: value.text)
        }
    }

    private static func ofIdentity(_ file: String) throws(Failure) -> Attempt {
        do throws(VaultError) {
            return Attempt(.identity(try Identity(contentsOf: file, passphrase: nil)))
        } catch {
            guard error.code == .locked else { throw Failure(error) }
            var attempt = Attempt(.automatic, isStated: false)
            attempt.protectedIdentity = file
            return attempt
        }
    }

    private init(_ credential: VaultCredential, isStated: Bool = true, passphraseFile: String? = nil) {
        self.credential = credential
        self.isStated = isStated
        self.passphraseFile = passphraseFile
    }
}
