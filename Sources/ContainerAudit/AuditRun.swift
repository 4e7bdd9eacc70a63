internal import AppGroups
internal import FoundationEssentials
internal import Glibc
internal import SealedState
internal import Sealing
internal import SharedFiles
internal import SystemPackage

/// One audit from the first name to the report.
struct AuditRun {
    private let scope: AuditScope
    private let entries: ContainerEntries
    private var files: [AuditedFile] = []
    private var findings: [Finding] = []
    private var notes: [String] = []
    /// How many blobs claim to be of the group.
    private var ownBlobs = 0
    /// How many records no reader of this user has accepted before.
    private var firstContacts = 0
    /// How many blobs need the vault to be unlocked.
    private var lockedBlobs = 0
    private var missing: MissingRecords

    /// Takes the list of names; nothing is opened yet.
    init(root: Directory, group: AppGroup?, access: VaultAccess, limits: AuditLimits, now: Date) throws(FileError) {
        missing = MissingRecords(accepted: access.store?.acceptedNames ?? [])
        let rootAttributes = try root.attributes(".")
        entries = ContainerEntries(of: root, limits: limits)
        scope = AuditScope(
            root: root, rootAttributes: rootAttributes, realPath: LinkTarget.location(of: root) ?? root.path.string,
            group: group, store: access.store, limits: limits, now: now,
            names: RecordNames(entries.all, group: group))
        findings = access.findings
        notes = access.notes
    }

    /// Looks at everything.
    ///
    /// - Parameter vaultPath: Where the group's missing vault should be; nil where none is missing.
    consuming func report(missingVault vaultPath: String?) -> AuditReport {
        let container = ContainerEntry(path: ".", attributes: scope.rootAttributes, error: nil)
        inspect(AuditSubject(container, scope.rootAttributes, .directory))
        ancestors()
        for entry in entries.all { examine(entry) }
        if entries.isCut {
            let detail = "Only the first \(scope.limits.maximumEntries) names were looked at."
            report(.fileUnexamined, at: ".", detail)
        }
        findings += missing.findings(among: entries, in: scope)
        if let vaultPath, ownBlobs > 0 { vaultIsMissing(vaultPath) }
        if firstContacts > 0 {
            notes.append(
                "This user's programs have never accepted a state of \(firstContacts) of the records: "
                    + "an older blob that was put back there could not be told.")
        }
        if lockedBlobs > 0 {
            notes.append(
                "\(lockedBlobs) \(lockedBlobs == 1 ? "blob is" : "blobs are") protected \"when unlocked\" and "
                    + "\(lockedBlobs == 1 ? "was" : "were") not opened: the vault is locked.")
        }
        return AuditReport(
            containerPath: scope.root.path.string.printable, group: scope.group?.identifier,
            withKeys: scope.store != nil, files: files, findings: findings, notes: notes)
    }

    private mutating func vaultIsMissing(_ vaultPath: String) {
        let place = FindingPlace(outside: vaultPath, group: scope.group?.identifier)
        findings.append(AuditCheck.vaultAbsent.finding(at: place, "\(ownBlobs) sealed blobs need it."))
    }

    private mutating func report(_ check: AuditCheck, at path: String, _ detail: String) {
        findings.append(check.finding(at: FindingPlace(path, in: scope), detail))
    }
}

// One entry.
extension AuditRun {
    private mutating func examine(_ entry: ContainerEntry) {
        do throws(FileError) {
            if let error = entry.error { throw error }
            guard let attributes = entry.attributes else { return }
            guard entry.isNameable else {
                throw FileError(.invalidName, operation: "open", path: scope.root.display(entry.path))
            }
            try examine(entry, attributes)
        } catch {
            // Gone since it was listed: not there, so not in the report.
            if error.code != .notFound || !entry.isNameable { unexamined(entry, error) }
        }
    }

    private mutating func examine(_ entry: ContainerEntry, _ attributes: FileAttributes) throws(FileError) {
        let subject = try FileClassifier(root: scope.root, group: scope.group).classify(entry, attributes)
        let blob = try BlobExaminer(scope: scope).examine(subject)
        inspect(subject)
        guard subject.kind != .directory else { return }
        findings += blob?.findings ?? []
        if blob?.isFirstContact == true { firstContacts += 1 }
        if blob?.isLocked == true { lockedBlobs += 1 }
        let header = try? subject.header?.get().claimed
        if let header, let group = scope.group, subject.kind != .quarantined,
            header.groupTag == BlobContext(group: group.identifier, kind: .record, name: "").groupTag
        {
            ownBlobs += 1
            if subject.kind != .temporary { missing.carried.insert(header.nameTag) }
        }
        files.append(
            AuditedFile(
                path: subject.path.printable, kind: subject.kind, size: attributes.size, mode: attributes.mode,
                record: header.map { SealedFacts($0, name: subject.place.recordName) }, verdict: blob?.verdict))
    }

    private mutating func inspect(_ subject: AuditSubject) {
        for inspector in Inspectors.all { findings += inspector.inspect(subject, in: scope) }
    }

    private mutating func unexamined(_ entry: ContainerEntry, _ error: FileError) {
        let attributes = entry.attributes
        if let attributes { inspect(AuditSubject(entry, attributes, .unreadable)) }
        report(.fileUnexamined, at: entry.path, error.description)
        files.append(
            AuditedFile(
                path: entry.path.printable, kind: attributes?.kind == .directory ? .directory : .unreadable,
                size: attributes?.size ?? 0, mode: attributes?.mode, record: nil, verdict: nil))
    }
}

// What lies above.
extension AuditRun {
    private mutating func ancestors() {
        do throws(FileError) { try scope.root.requireSafeAncestors() } catch {
            let place = FindingPlace(outside: error.path, group: scope.group?.identifier)
            switch error.code {
            case .unsafeMode:
                findings.append(
                    AuditCheck.ancestorWritable.finding(at: place, "Everybody may write there.", remedy: error.advice))
            case .wrongOwner where isOwnedByRunner:
                findings.append(
                    AuditCheck.ancestorWritable.finding(
                        at: place, "It belongs to another user, who may rename what lies in it.", remedy: error.advice))
            case .wrongOwner: break
            default: notes.append("The directories above could not be examined: \(error.description)")
            }
        }
    }

    /// Root may look at another user's container, in directories of that user.
    private var isOwnedByRunner: Bool { geteuid() != 0 || scope.rootAttributes.uid == 0 }
}
