internal import Sealing

/// The intermediate result of an audit. Outcomes may come in any order, because it consists of sums, sets and a
/// self-sorting shelf.
struct RunTally: Sendable {
    /// The files in the order of the entries, up to the first missing batch.
    private var files: [AuditedFile] = []
    private var nextBatch = 0
    /// The files of batches that were completed before an earlier one.
    private var early: [Int: [AuditedFile]] = [:]
    var listedFindings: ListedFindings
    private(set) var ownBlobs = 0
    private(set) var firstContacts = 0
    private(set) var lockedBlobs = 0
    private(set) var carried: Set<NameTag> = []
    private(set) var usedIgnores: Set<String> = []
    /// The paths of the audit's own files.
    private(set) var ownFiles: [String] = []
    private var omissions = AuditOmissions()

    /// - Parameter entries: The number of entries.
    init(entries: Int, limits: AuditLimits) {
        // Reserved at once, because growing would need the memory twice.
        files.reserveCapacity(entries)
        listedFindings = ListedFindings(limit: limits.maximumFindings)
    }

    mutating func add(_ outcomes: [EntryOutcome], batch: Int) {
        early[batch] = outcomes.compactMap(\.file)
        while let next = early.removeValue(forKey: nextBatch) {
            files += next
            nextBatch += 1
        }
        for outcome in outcomes { add(outcome) }
    }

    mutating func add(_ outcome: EntryOutcome) {
        for finding in outcome.findings { listedFindings.add(finding) }
        listedFindings.countUnlisted(outcome.unlisted)
        ownBlobs += outcome.isOwnBlob ? 1 : 0
        firstContacts += outcome.isFirstContact ? 1 : 0
        lockedBlobs += outcome.isLocked ? 1 : 0
        if let tag = outcome.carried { carried.insert(tag) }
        usedIgnores.formUnion(outcome.usedIgnores)
        if let file = outcome.file, file.kind == .auditFile { ownFiles.append(file.path) }
        omissions.ignored += outcome.omissions.ignored
        omissions.inBaseline += outcome.omissions.inBaseline
        omissions.allowedInline += outcome.omissions.allowedInline
    }

    /// Returns the files in the order of the entries and removes them, to avoid a copy.
    mutating func takeFiles() -> [AuditedFile] {
        defer { files = [] }
        return files
    }

    /// The omissions including findings beyond the limits. Call this after the shelf is sorted.
    var allOmissions: AuditOmissions {
        var all = omissions
        all.unlisted = listedFindings.unlisted.entries
        return all
    }
}

/// The listed findings of a run: the most severe ones up to the limit, the others counted by check and severity.
///
/// The selection does not depend on the order of additions, because the order of findings is total.
struct ListedFindings: Sendable {
    private let limit: Int
    private var kept: [Finding] = []
    /// The last finding of a full shelf. Findings after it are no longer listed.
    private var last: Finding?
    private(set) var unlisted = FindingTally()
    /// The number of all added findings.
    private(set) var total = 0

    init(limit: Int) { self.limit = limit }

    mutating func add(_ finding: Finding) {
        total += 1
        if let last, last.precedes(finding) {
            unlisted.add(finding.id, finding.severity)
            return
        }
        kept.append(finding)
        if kept.count >= limit + limit / 4 + 64 { trim() }
    }

    mutating func countUnlisted(_ counts: FindingTally) {
        unlisted.add(counts)
        total += counts.total
    }

    /// Returns the findings in the order of the report.
    mutating func sorted() -> [Finding] {
        trim()
        return kept
    }

    private mutating func trim() {
        kept.sort { $0.precedes($1) }
        guard kept.count > limit else { return }
        for finding in kept[limit...] { unlisted.add(finding.id, finding.severity) }
        kept.removeSubrange(limit...)
        last = kept.last ?? last
    }
}

extension Finding {
    /// Returns whether a finding precedes another in a report: most severe first, then by path, then by position in the
    /// file.
    func precedes(_ other: Finding) -> Bool {
        if severity != other.severity { return severity > other.severity }
        if path != other.path { return path.utf8.lexicographicallyPrecedes(other.path.utf8) }
        if id != other.id { return id < other.id }
        let (mine, its) = (position, other.position)
        if mine != its { return mine < its }
        let (place, itsPlace) = (location?.place ?? "", other.location?.place ?? "")
        if place != itsPlace { return place < itsPlace }
        if detail != other.detail { return detail < other.detail }
        return (fingerprint ?? "") < (other.fingerprint ?? "")
    }

    private var position: (Int, Int64) { (location?.line ?? 0, location?.offset ?? -1) }
}
