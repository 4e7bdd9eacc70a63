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
