/// The findings of one check in one file: the most severe ones up to a limit, and the number of the others.
final class CheckFindings {
    private struct Listed {
        let finding: Finding
        /// The order of listing. Of the least severe findings the newest is removed first.
        let order: Int
        var places: Int
    }

    private let limit: Int
    private var listed: [Int: Listed] = [:]
    private var severities: [Severity: Int] = [:]
    private var next = 0
    /// The number of findings that are only counted.
    private(set) var unlisted: [Severity: Int] = [:]

    init(limit: Int) { self.limit = limit }

    /// Returns whether another finding of a severity would only be counted.
    func hasNoPlace(for severity: Severity) -> Bool {
        listed.count >= limit && !severities.contains { $0.key < severity && $0.value > 0 }
    }

    /// Counts a finding that is not listed.
    func count(_ severity: Severity) { unlisted[severity, default: 0] += 1 }

    /// Counts another position of a listed value.
    func addPlace(of key: Int) { listed[key]?.places += 1 }

    /// Removes a finding from the list.
    ///
    /// - Returns: The number of its positions.
    func remove(_ key: Int) -> Int {
        guard let old = listed.removeValue(forKey: key) else { return 0 }
        severities[old.finding.severity, default: 0] -= 1
        return old.places
    }

    /// Lists a finding of a new value. If the list is full, it replaces a less severe finding, which is then only
    /// counted.
    ///
    /// - Returns: The key of the replaced finding, or of the new one if it was only counted; `nil` otherwise.
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

    /// The listed findings, each with the number of its positions, in the order of discovery.
    var findings: [Finding] {
        listed.values.sorted { $0.order < $1.order }.map {
            $0.places > 1 ? $0.finding.adding("It is in \($0.places) places of the file.") : $0.finding
        }
    }
}

extension Finding {
    /// Returns the finding with another sentence.
    fileprivate func adding(_ sentence: String) -> Finding {
        var finding = Finding(
            id: id, severity: severity, confidence: confidence, path: path, title: title,
            detail: detail.isEmpty ? sentence : "\(detail) \(sentence)", remedy: remedy, references: references)
        finding.location = location
        finding.fingerprint = fingerprint
        return finding
    }
}
