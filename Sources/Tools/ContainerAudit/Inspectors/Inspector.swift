internal import AppGroups
internal import FoundationEssentials
internal import Glibc
internal import SharedFiles

/// Looks at one file, or directory, for what is wrong with it. A new family of checks is one more of these.
protocol Inspector: Sendable {
    /// What is wrong with the subject; empty where nothing is.
    func inspect(_ subject: AuditSubject, in scope: AuditScope) -> [Finding]
}

/// Every inspector, in the order in which findings of one file are made.
enum Inspectors {
    static let all: [any Inspector] = [
        PermissionInspector(), LinkInspector(), RecordPlaceInspector(), LockPlaceInspector(), PlaintextInspector(),
        HousekeepingInspector(),
    ]
}

/// What has the place of one of the container's lock files and is no file.
struct LockPlaceInspector: Inspector {
    func inspect(_ subject: AuditSubject, in scope: AuditScope) -> [Finding] {
        // A special file or a link there is reported as such.
        guard subject.place == .lockFile, subject.attributes.kind == .directory else { return [] }
        return [AuditCheck.lockMisplaced.finding(at: FindingPlace(subject.path, in: scope), "It is a directory.")]
    }
}

/// Directories that have the file name of a sealed record, so that the record can be neither read nor written.
struct RecordPlaceInspector: Inspector {
    func inspect(_ subject: AuditSubject, in scope: AuditScope) -> [Finding] {
        guard subject.isNamedAsRecord, subject.attributes.kind == .directory else { return [] }
        return [
            AuditCheck.blobMalformed.finding(
                at: FindingPlace(subject.path, in: scope), "It is a directory, where a record's file should be.",
                remedy: "See what lies in it and move it away, then let the producing program write the record anew: "
                    + "ls -la {file}")
        ]
    }
}

extension AuditSubject {
    /// Whether it lies among the records under a name that ends as their files' names do; no directory of a record's
    /// name can end so.
    var isNamedAsRecord: Bool { place.isAmongRecords && path.hasSuffix(ContainerLayout.recordSuffix) }
}

/// What was left lying about: temporaries of crashed writers, copies in quarantine, and what other programs leave.
struct HousekeepingInspector: Inspector {
    func inspect(_ subject: AuditSubject, in scope: AuditScope) -> [Finding] {
        let place = FindingPlace(subject.path, in: scope)
        switch subject.kind {
        case .quarantined:
            return [
                AuditCheck.quarantinePresent.finding(at: place, "It has \(subject.attributes.size.counted("byte")).")
            ]
        case .temporary:
            let grace = Double(scope.limits.temporaryGrace.components.seconds)
            guard Self.isAbandoned(subject, for: grace, scope) else { return [] }
            return [
                AuditCheck.leftoverTemporary.finding(at: place, "It has \(subject.attributes.size.counted("byte")).")
            ]
        default: return subject.attributes.kind == .regular ? Self.foreign(subject, place, scope) : []
        }
    }

    /// What programs of any kind leave, by name. An empty file tells nothing.
    private static func foreign(_ subject: AuditSubject, _ place: FindingPlace, _ scope: AuditScope) -> [Finding] {
        guard subject.attributes.size > 0 else { return [] }
        let detail = "It has \(subject.attributes.size.counted("byte"))."
        let leaf = subject.entry.leaf
        if FileNames.isBackup(leaf) { return [AuditCheck.leftoverBackup.finding(at: place, detail)] }
        if FileNames.isLog(leaf) { return [AuditCheck.logPresent.finding(at: place, detail)] }
        if FileNames.isTemporary(leaf), isAbandoned(subject, for: foreignGrace, scope) {
            return [AuditCheck.leftoverTemporary.finding(at: place, detail, confidence: .likely)]
        }
        if subject.marks.contains(.processID), FileNames.isLock(leaf) { return staleLock(subject, place, scope) }
        return []
    }

    /// Other programs may write for longer before they give a file its name.
    private static let foreignGrace: Double = 3600

    /// Not what a writer may be about to name. One of the future is nobody's who is at work.
    private static func isAbandoned(_ subject: AuditSubject, for grace: Double, _ scope: AuditScope) -> Bool {
        let modified = Double(subject.attributes.modifiedNanoseconds) / 1e9
        let age = scope.now.timeIntervalSince1970 - modified
        return age < -grace || age >= grace
    }

    /// Of a process that is not there. It may be there in another namespace or on another machine.
    private static func staleLock(_ subject: AuditSubject, _ place: FindingPlace, _ scope: AuditScope) -> [Finding] {
        guard let bytes = try? scope.root.readPrefix(subject.path, count: 17).bytes,
            let id = ContentMarks.processID(in: bytes), kill(id, 0) != 0, errno == ESRCH
        else { return [] }
        return [AuditCheck.staleLock.finding(at: place, "There is no process \(id).", confidence: .possible)]
    }
}
