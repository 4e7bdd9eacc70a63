internal import Sealing

/// What an audit has come to so far. Outcomes may come in any order: sums, sets and a shelf that orders itself.
struct RunTally: Sendable {
    /// The files in the order of the entries, as far as no batch is missing.
    private var files: [AuditedFile] = []
    private var nextBatch = 0
    /// The files of batches that were done before an earlier one.
    private var early: [Int: [AuditedFile]] = [:]
    var shelf: FindingShelf
    private(set) var ownBlobs = 0
    private(set) var firstContacts = 0
    private(set) var lockedBlobs = 0
    private(set) var carried: Set<NameTag> = []
    private(set) var usedIgnores: Set<String> = []
    /// The paths of the audit's own files.
    private(set) var ownFiles: [String] = []
    private var omissions = AuditOmissions()

    /// - Parameter entries: How many there are.
    init(entries: Int, limits: AuditLimits) {
        // At once: to grow would need room for it twice.
        files.reserveCapacity(entries)
        shelf = FindingShelf(limit: limits.maximumFindings)
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
        for finding in outcome.findings { shelf.add(finding) }
        shelf.countUnlisted(outcome.unlisted)
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

    /// Every file in the order of the entries; they are handed over, not copied.
    mutating func takeFiles() -> [AuditedFile] {
        defer { files = [] }
        return files
    }

    /// What was left out, the findings beyond the limits with it. Ask once the shelf is sorted.
    var allOmissions: AuditOmissions {
        var all = omissions
        all.unlisted = shelf.unlisted.entries
        return all
    }
}

/// The findings of a run, at most as many as are listed: the gravest are kept, the others counted by check and severity.
///
/// Which are kept does not depend on the order in which they come, for their own order is total.
struct FindingShelf: Sendable {
    private let limit: Int
    private var kept: [Finding] = []
    /// Once it was full: whatever comes behind this one has no place any more.
    private var last: Finding?
    private(set) var unlisted = FindingTally()
    /// All that were added.
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

    /// The findings in the order of the report.
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
    /// The order of a report: the gravest first, then by path, then by place in the file.
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
