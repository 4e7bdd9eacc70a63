internal import AppGroups
internal import FoundationEssentials
internal import Glibc
internal import SharedFiles

/// Inspects one file or directory. New families of checks implement this.
protocol Inspector: Sendable {
    /// Returns the findings of the subject, which are empty if nothing is wrong.
    func inspect(_ subject: AuditSubject, in scope: AuditScope) -> [Finding]
}

/// The inspectors, in the order of their findings for one file.
enum Inspectors {
    static let all: [any Inspector] = [
        PermissionInspector(), LinkInspector(), RecordPlaceInspector(), LockPlaceInspector(), PlaintextInspector(),
        HousekeepingInspector(),
    ]

    /// The inspectors of records in a database, which have no mode and no file name.
    static let ofRecords: [any Inspector] = [PlaintextInspector()]
}

/// Detects objects other than files in the places of the container's lock files.
struct LockPlaceInspector: Inspector {
    func inspect(_ subject: AuditSubject, in scope: AuditScope) -> [Finding] {
        // Special files and links have their own findings.
        guard subject.place == .lockFile, subject.attributes.kind == .directory else { return [] }
        return [AuditCheck.lockMisplaced.finding(at: FindingPlace(subject.path, in: scope), "It is a directory.")]
    }
}

/// Detects directories with the file name of a sealed record, which prevent reading and writing the record.
struct RecordPlaceInspector: Inspector {
    func inspect(_ subject: AuditSubject, in scope: AuditScope) -> [Finding] {
        guard subject.isNamedAsRecord, subject.attributes.kind == .directory else { return [] }
        return [
            AuditCheck.blobMalformed.finding(
                at: FindingPlace(subject.path, in: scope), "It is a directory in the place of a record's file.",
                remedy: "See its contents and move it away, then let the producing program write the record again: "
                    + "ls -la {file}")
        ]
    }
}

extension AuditSubject {
    /// True if it is among the records and its name ends as a record's file name. No directory of a record's name can
    /// end this way.
    var isNamedAsRecord: Bool { place.isAmongRecords && path.hasSuffix(ContainerLayout.recordSuffix) }
}

/// Detects leftovers: temporaries of crashed writers, copies in quarantine, and files of other programs.
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

    /// Returns the findings on leftovers of other programs, by name. Empty files are ignored.
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

    /// The grace period for other programs, which may write longer before they name a file.
    private static let foreignGrace: Double = 3600

    /// Returns whether a temporary file is abandoned rather than about to be named. No running writer has one from the
    /// future.
    private static func isAbandoned(_ subject: AuditSubject, for grace: Double, _ scope: AuditScope) -> Bool {
        let modified = Double(subject.attributes.modifiedNanoseconds) / 1e9
        let age = scope.now.timeIntervalSince1970 - modified
        return age < -grace || age >= grace
    }

    /// Returns the finding of a lock of a missing process. The process may exist in another namespace or on another
    /// machine.
    private static func staleLock(_ subject: AuditSubject, _ place: FindingPlace, _ scope: AuditScope) -> [Finding] {
        guard let bytes = try? scope.root.readPrefix(subject.path, count: 17).bytes,
            let id = ContentMarks.processID(in: bytes), kill(id, 0) != 0, errno == ESRCH
        else { return [] }
        return [AuditCheck.staleLock.finding(at: place, "No process has the id \(id).", confidence: .possible)]
    }
}
