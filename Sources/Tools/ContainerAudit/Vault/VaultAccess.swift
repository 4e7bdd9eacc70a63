internal import AppGroups
internal import KeyVault
internal import SealedState
internal import SharedFiles
internal import SystemPackage

/// What came of asking for a group's keys: a store that opens blobs, or why there is none.
struct VaultAccess: Sendable {
    var store: SealedStore?
    var findings: [Finding] = []
    var notes: [String] = []
    /// Whether there is no vault at all: a fault only where sealed blobs need one.
    var isAbsent = false

    /// No keys; the note says so and why, with what concerns it first.
    static func withoutKeys(_ subject: String, because reason: String, _ findings: [Finding] = []) -> VaultAccess {
        VaultAccess(findings: findings, notes: ["\(subject.printable): blobs were not opened: \(reason.printable)"])
    }
}

/// Opens a group's vault for an audit; nothing is made and nothing is written.
struct VaultOpener {
    let group: AppGroup
    let home: GroupsHome
    let credential: VaultCredential

    /// - Throws: `AuditError` for a credential that a person stated and that is wrong: to go on without keys would hide it.
    func open() throws(AuditError) -> VaultAccess {
        do throws(StoreError) {
            let store = try SealedStore(group: group, in: home, unlockingWith: credential, creating: false)
            return VaultAccess(store: store, findings: watermarks(store))
        } catch {
            return try access(without: error)
        }
    }

    private func access(without error: StoreError) throws(AuditError) -> VaultAccess {
        if let cause = error.cause as? AppGroupError { return .refused(cause, group) }
        let code = (error.cause as? VaultError)?.code
        if let fault = misfit(code, error) { throw fault }
        var access = VaultAccess.withoutKeys(group.identifier, because: Self.reason(code, error))
        access.isAbsent = code == .absent
        access.findings =
            Self.check(for: code, isAboutVault: error.subject == vaultPath).map { check in
                let subject = FindingPlace(outside: Self.place(of: error), group: group.identifier)
                return [check.finding(at: subject, error.reason, remedy: check == .vaultRefused ? error.advice : nil)]
            } ?? []
        return access
    }

    private var vaultPath: String { VaultPlace(AccessGroup(group), in: home).path }

    private static func reason(_ code: VaultError.Code?, _ error: StoreError) -> String {
        switch code {
        case .locked: "the vault is locked. \(error.reason) \(error.advice)"
        case .absent: "there is no vault. \(error.advice)"
        default: error.sentence
        }
    }

    /// What failed on a file names that file, which may be a directory above.
    private static func place(of error: StoreError) -> String {
        (error.cause as? VaultError)?.underlying?.path ?? error.subject
    }

    private func misfit(_ code: VaultError.Code?, _ error: StoreError) -> AuditError? {
        switch credential {
        case .automatic, .defaultKeyFile: return nil
        default: break
        }
        let kind: AuditError.Code
        switch code {
        case .wrongPassphrase: kind = .wrongPassphrase
        case .wrongKeyFile, .malformedKeyFile: kind = .wrongKeyFile
        default: return nil
        }
        return AuditError(kind, "audit with its keys", group.identifier, error.reason, advice: error.advice)
    }

    /// Nil for what is a state and no fault: no vault, or one that opens with something that is not at hand. Whatever
    /// else keeps it closed is a fault, known here or not.
    ///
    /// - Parameter isAboutVault: Whether the error names the vault; one that is locked and names another file misses it.
    private static func check(for code: VaultError.Code?, isAboutVault: Bool) -> AuditCheck? {
        switch code {
        case .absent: nil
        case .missing: .vaultAbsent
        case .locked: isAboutVault ? nil : .keyFileAbsent
        case .corrupt: .vaultCorrupt
        case .wrongGroup: .vaultWrongGroup
        case .wrongKeyFile: .vaultWrongKeyFile
        case .malformedKeyFile: .keyFileDamaged
        default: .vaultRefused
        }
    }

    private var othersWriteWatermarks: Bool {
        VaultFiles(group: group, home: home, credential: credential).findings.contains {
            $0.id == AuditCheck.watermarksMode.id
        }
    }

    /// Accepting mends nothing that cannot be read.
    private static let unreadable = "See why it cannot be read, and mend that: ls -la {file}"

    private func watermarks(_ store: SealedStore) -> [Finding] {
        let condition = store.watermarkCondition
        let place = FindingPlace(outside: home.watermarksPath.string, group: group.identifier)
        return switch condition {
        case .damaged(let entries):
            [
                AuditCheck.watermarksDamaged.finding(
                    at: place, "\(entries.counted("entry", "entries")) \(entries == 1 ? "is" : "are") not authentic.")
            ]
        // Who may write there is the reason, and said.
        case .unreadable where othersWriteWatermarks: []
        case .unreadable: [AuditCheck.watermarksDamaged.finding(at: place, "\(condition).", remedy: Self.unreadable)]
        case .lost: [AuditCheck.watermarksLost.finding(at: place, "\(condition).")]
        case .firstContact, .intact, .notPersisted: []
        }
    }
}

extension VaultAccess {
    /// What comes of a container that the group's programs refuse.
    static func refused(_ error: AppGroupError, _ group: AppGroup) -> VaultAccess {
        let place = FindingPlace(outside: error.subject, group: group.identifier)
        let finding = AuditCheck.containerRefused.finding(
            at: place, "\(error.subject): \(error.reason.clause).", remedy: error.advice)
        return .withoutKeys(group.identifier, because: "the container is refused: \(error.reason.clause).", [finding])
    }
}
