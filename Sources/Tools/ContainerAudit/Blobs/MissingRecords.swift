internal import AppGroups
internal import SealedState
internal import Sealing
internal import SharedFiles

/// Finds accepted records that are missing from the container, even as a deletion.
struct MissingRecords: Sendable {
    /// The accepted tags, taken before the names were listed, because a record that is accepted later may be missing
    /// from the list.
    let accepted: [NameTag]
    /// The tags of all blobs in any place. A moved blob is a separate finding.
    var carried: Set<NameTag> = []

    /// The number of tags that a finding lists.
    private static let maximumTags = 16

    /// - Parameter entries: The entries of the audit.
    func findings(among entries: ContainerEntries, in scope: AuditScope) -> [Finding] {
        var missing = accepted.filter { scope.names[$0] == nil && !carried.contains($0) }
        let unseen = entries.all.filter { Self.mayHideRecords($0) }
        // Parts beyond the audit's own limits are reported as not examined, and a damaged database as such.
        if missing.isEmpty || entries.isCut || entries.listingError != nil { return [] }
        if unseen.contains(where: { $0.error?.code == .tooDeep }) { return [] }
        // A directory that changes while it is listed may omit a name, so only a record that is missing from two lists
        // is gone.
        let again = ContainerEntries(of: scope.root, scope.database, limits: scope.limits)
        let names = RecordNames(again.all, group: scope.group)
        missing.removeAll { names[$0] != nil }
        if missing.isEmpty || again.listingError != nil { return [] }
        return [
            AuditCheck.recordMissing.finding(
                at: FindingPlace(scope.recordsPath, in: scope), Self.detail(missing),
                confidence: unseen.isEmpty ? .certain : .possible)
        ]
    }

    /// Returns whether the entry is a directory that was not entered and may contain records. Directories nested deeper
    /// than any record cannot explain a missing one.
    private static func mayHideRecords(_ entry: ContainerEntry) -> Bool {
        guard entry.error != nil, entry.attributes?.kind != .regular else { return false }
        let records = ContainerLayout.records + "/"
        let path = entry.path + "/"
        if RecordFile.directories.contains(where: { ($0 + "/").hasPrefix(path) }) { return true }
        let depth = path.dropFirst(records.count).split(separator: "/").count
        return path.hasPrefix(records) && depth < RecordName.maximumDepth
    }

    private static func detail(_ tags: [NameTag]) -> String {
        let shown = tags.map(\.description).sorted().prefix(maximumTags).joined(separator: ", ")
        let rest = tags.count > maximumTags ? " and \(tags.count - maximumTags) more" : ""
        return "\(tags.count) \(tags.count == 1 ? "record is" : "records are") missing; by tag: \(shown)\(rest)."
    }
}

/// Finds sealed files with a valid manifest whose contents are missing, or are those of another file or version.
struct RefusedContents {
    let scope: AuditScope

    /// - Parameter files: The examined files; contents that were refused there are a finding already.
    func findings(besides files: [AuditedFile]) -> [Finding] {
        guard let refused = try? scope.store?.refusedContents(), !refused.isEmpty else { return [] }
        let known = Set(
            files.filter { file in
                if case .refused = file.verdict { true } else { false }
            }.map(\.path))
        return refused.filter { !known.contains($0.path) }.map { contents in
            let check = contents.error.code == .missing ? .recordMissing : BlobRefusal.check(contents.error.code)
            return check.finding(
                at: FindingPlace(contents.path, in: scope),
                "The sealed file \(contents.name) cannot be read: \(contents.error.reason)")
        }
    }
}
