/// What one file has of one check: the gravest findings up to a limit, and how many are beyond.
final class CheckFindings {
    private struct Listed {
        let finding: Finding
        /// When it was listed: of the least grave ones the newest goes first.
        let order: Int
        var places: Int
    }

    private let limit: Int
    private var listed: [Int: Listed] = [:]
    private var severities: [Severity: Int] = [:]
    private var next = 0
    /// How many are only counted.
    private(set) var unlisted: [Severity: Int] = [:]

    init(limit: Int) { self.limit = limit }

    /// Whether another finding of a severity would only be counted.
    func hasNoPlace(for severity: Severity) -> Bool {
        listed.count >= limit && !severities.contains { $0.key < severity && $0.value > 0 }
    }

    /// Counts a finding that has no place.
    func count(_ severity: Severity) { unlisted[severity, default: 0] += 1 }

    /// Counts another place of a value that is listed.
    func addPlace(of key: Int) { listed[key]?.places += 1 }

    /// Takes a finding out of the list.
    ///
    /// - Returns: In how many places it was.
    func remove(_ key: Int) -> Int {
        guard let old = listed.removeValue(forKey: key) else { return 0 }
        severities[old.finding.severity, default: 0] -= 1
        return old.places
    }

    /// Lists a finding of a new value; where there is no place in that of a less grave one, which is then only counted.
    ///
    /// - Returns: The key of the finding that had to go; the new one's own where that was only counted; nil for none.
    func list(_ finding: Finding, key: Int, places: Int) -> Int? {
        var evicted: Int?
        if listed.count >= limit {
            let lesser = listed.filter { $0.value.finding.severity < finding.severity }
            guard let victim = lesser.max(by: { $0.value.order < $1.value.order }) else {
                count(finding.severity)
                return key
            }
            _ = remove(victim.key)
            count(victim.value.finding.severity)
            evicted = victim.key
        }
        listed[key] = Listed(finding: finding, order: next, places: places)
        severities[finding.severity, default: 0] += 1
        next += 1
        return evicted
    }

    /// What is listed, each with the number of its places, in the order in which it was found.
    var findings: [Finding] {
        listed.values.sorted { $0.order < $1.order }.map {
            $0.places > 1 ? $0.finding.adding("It lies in \($0.places) places of the file.") : $0.finding
        }
    }
}

extension Finding {
    /// The same with another sentence.
    fileprivate func adding(_ sentence: String) -> Finding {
        var finding = Finding(
            id: id, severity: severity, confidence: confidence, path: path, title: title,
            detail: detail.isEmpty ? sentence : "\(detail) \(sentence)", remedy: remedy, references: references)
        finding.location = location
        finding.fingerprint = fingerprint
        return finding
    }
}
