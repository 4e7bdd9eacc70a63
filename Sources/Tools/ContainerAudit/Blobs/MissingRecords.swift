internal import AppGroups
internal import SealedState
internal import Sealing
internal import SharedFiles

/// Finds records that readers have accepted and that are not in the container any more: not even as a deletion.
struct MissingRecords: Sendable {
    /// Taken before the names of the container were listed: what is accepted later may lie in no list.
    let accepted: [NameTag]
    /// The tags that blobs carry, wherever they lie: one that was moved is a finding of its own.
    var carried: Set<NameTag> = []

    /// How many tags a finding spells out.
    private static let maximumTags = 16

    /// - Parameter entries: What the audit looked at.
    func findings(among entries: ContainerEntries, in scope: AuditScope) -> [Finding] {
        var missing = accepted.filter { scope.names[$0] == nil && !carried.contains($0) }
        let unseen = entries.all.filter { Self.mayHideRecords($0) }
        // What the audit's own limits kept from it is said as not examined.
        if missing.isEmpty || entries.isCut || unseen.contains(where: { $0.error?.code == .tooDeep }) { return [] }
        // A directory that a writer changes while it is listed may leave out a name: only what is out of two lists is gone.
        let again = RecordNames(ContainerEntries(of: scope.root, limits: scope.limits).all, group: scope.group)
        missing.removeAll { again[$0] != nil }
        if missing.isEmpty { return [] }
        return [
            AuditCheck.recordMissing.finding(
                at: FindingPlace(ContainerLayout.records, in: scope), Self.detail(missing),
                confidence: unseen.isEmpty ? .certain : .possible)
        ]
    }

    /// Whether it is a directory that was not entered, and that records may lie in; nothing that is nested deeper than
    /// a record can be excuses a missing one.
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
