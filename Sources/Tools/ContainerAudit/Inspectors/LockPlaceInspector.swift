internal import SharedFiles

/// What has the place of one of the container's lock files and is no file.
struct LockPlaceInspector: Inspector {
    func inspect(_ subject: AuditSubject, in scope: AuditScope) -> [Finding] {
        // A special file or a link there is reported as such.
        guard subject.place == .lockFile, subject.attributes.kind == .directory else { return [] }
        return [AuditCheck.lockMisplaced.finding(at: FindingPlace(subject.path, in: scope), "It is a directory.")]
    }
}
