internal import AppGroups
internal import KeyVault
internal import SealedBackends
internal import SealedState
internal import SharedFiles
internal import SystemPackage

/// The result of requesting a group's keys: a store that opens blobs, or the reason for its absence.
struct VaultAccess: Sendable {
    var store: SealedStore?
    var findings: [Finding] = []
    var notes: [String] = []
    /// True if the vault does not exist, which is a fault only if sealed blobs need it.
    var isAbsent = false

    /// Returns an access without keys, with a note on the subject and the reason.
    static func withoutKeys(_ subject: String, because reason: String, _ findings: [Finding] = []) -> VaultAccess {
        VaultAccess(findings: findings, notes: ["\(subject.printable): blobs were not opened: \(reason.printable)"])
    }
}

/// Opens a group's vault for an audit, without creating or writing anything.
struct VaultOpener {
    let group: AppGroup
    let home: GroupsHome
    let credential: VaultCredential
    /// The backend that this program has besides files.
    let backend: (any BackendProvider)?

    /// The access of an audit that does not use the vault.
    var unused: VaultAccess { .withoutKeys(group.identifier, because: "the vault was not used.") }

    /// - Parameter database: The database of the container's records. A store cannot be opened without it.
    /// - Throws: `AuditError` for a wrong explicit credential, because continuing without keys would hide the mistake;
    ///   `.unreadable` if the process or the system has no free descriptors.
    func open(beside database: RecordDatabase?) throws(AuditError) -> VaultAccess {
        if case .failure = database?.backend { return withoutRecords }
        do throws(StoreError) {
            var options = StoreOptions()
            options.backend = backend
            let store = try SealedStore(
                group: group, in: home, unlockingWith: credential, creating: false, options: options)
            return VaultAccess(store: store, findings: watermarks(store))
        } catch {
            return try access(without: error)
        }
    }

    private var withoutRecords: VaultAccess {
        .withoutKeys(group.identifier, because: "the database of the records could not be opened.")
    }

    private func access(without error: StoreError) throws(AuditError) -> VaultAccess {
        if AuditError.isShortage(error.errno) {
            throw AuditError(
                .unreadable, "audit with its keys", group.identifier, error.reason, advice: error.advice,
                errno: error.errno)
        }
        if error.code == .backendUnknown || error.cause is BackendError { return withoutRecords }
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

    /// Returns the place of an error. A file error names the file, which may be a directory above.
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

    /// Returns the check for an error, or `nil` for a state that is not a fault: no vault, or one whose credential is
    /// not available. Any other error is a fault, even if its code is unknown here.
    ///
    /// - Parameter isAboutVault: True if the error names the vault. A locked vault whose error names another file lacks
    ///   that file.
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

    /// The remedy for an unreadable file, because accepting the state would not fix it.
    private static let unreadable = "Find out why it cannot be read, and correct that: ls -la {file}"

    private func watermarks(_ store: SealedStore) -> [Finding] {
        let condition = store.watermarkCondition
        let place = FindingPlace(outside: home.watermarksPath.string, group: group.identifier)
        return switch condition {
        case .damaged(let entries):
            [
                AuditCheck.watermarksDamaged.finding(
                    at: place, "\(entries.counted("entry", "entries")) \(entries == 1 ? "is" : "are") not authentic.")
            ]
        // The cause, write access for others, has its own finding.
        case .unreadable where othersWriteWatermarks: []
        case .unreadable: [AuditCheck.watermarksDamaged.finding(at: place, "\(condition).", remedy: Self.unreadable)]
        case .lost: [AuditCheck.watermarksLost.finding(at: place, "\(condition).")]
        case .firstContact, .intact, .notPersisted: []
        }
    }
}

extension VaultAccess {
    /// Returns the access to a container that the group's programs refuse.
    static func refused(_ error: AppGroupError, _ group: AppGroup) -> VaultAccess {
        let place = FindingPlace(outside: error.subject, group: group.identifier)
        let finding = AuditCheck.containerRefused.finding(
            at: place, "\(error.subject): \(error.reason.clause).", remedy: error.advice)
        return .withoutKeys(group.identifier, because: "the container is refused: \(error.reason.clause).", [finding])
    }
}
