/// When a look that failed for a passing trouble is made again: after a second at first, then after twice as long each time.
struct LookPause {
    private static let shortest = 1.0
    private static let longest = 60.0
    private var next = shortest

    /// In how many seconds to look again after a look; nil for when there is a change.
    mutating func seconds<Record>(after finding: RecordWatch<Record>.Finding) -> Double? {
        guard finding.mayPass else {
            next = Self.shortest
            return finding.changesIn
        }
        defer { next = min(next * 2, Self.longest) }
        return min(next, finding.changesIn ?? next)
    }
}
