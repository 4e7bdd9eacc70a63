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
        let code = (error.cause as? VaultError)?.code
        if let fault = misfit(code, error) { throw fault }
        var access = VaultAccess(notes: ["No keys, so sealed blobs were not opened: \(error.description.printable)"])
        access.isAbsent = code == .absent
        if let check = Self.check(for: code) {
            let subject = FindingPlace(outside: error.subject, group: group.identifier)
            access.findings.append(check.finding(at: subject, error.reason))
        }
        return access
    }

    private func misfit(_ code: VaultError.Code?, _ error: StoreError) -> AuditError? {
        if case .defaultKeyFile = credential { return nil }
        let kind: AuditError.Code
        switch code {
        case .wrongPassphrase: kind = .wrongPassphrase
        case .wrongKeyFile, .malformedKeyFile: kind = .wrongKeyFile
        default: return nil
        }
        return AuditError(kind, "audit with its keys", group.identifier, error.reason, advice: error.advice)
    }

    /// Locked is a state and no fault; loose modes are found by `VaultFiles`.
    private static func check(for code: VaultError.Code?) -> AuditCheck? {
        switch code {
        case .corrupt: .vaultCorrupt
        case .wrongGroup: .vaultWrongGroup
        case .wrongKeyFile: .vaultWrongKeyFile
        case .malformedKeyFile: .keyFileDamaged
        default: nil
        }
    }

    private func watermarks(_ store: SealedStore) -> [Finding] {
        switch store.watermarkCondition {
        case .damaged, .unreadable:
            let place = FindingPlace(outside: home.watermarksPath.string, group: group.identifier)
            return [AuditCheck.watermarksDamaged.finding(at: place, "\(store.watermarkCondition).")]
        default: return []
        }
    }
}
