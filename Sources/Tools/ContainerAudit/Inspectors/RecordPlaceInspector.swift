internal import AppGroups
internal import SharedFiles

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
