/// What one file has of one check: the gravest findings up to a limit, in the order in which they were found, and how many
/// are beyond.
final class CheckFindings {
    private struct Listed {
        let key: Int
        var finding: Finding
        var places = 1
    }

    private let limit: Int
    private var listed: [Listed] = []
    /// How many are only counted.
    private(set) var unlisted = 0
    /// The least severity that is listed.
    private var floor = Severity.critical

    init(limit: Int) { self.limit = limit }

    /// Whether another finding of a severity would only be counted.
    func hasNoPlace(for severity: Severity) -> Bool { listed.count >= limit && floor >= severity }

    /// Counts a finding that has no place.
    func count() { unlisted += 1 }

    /// Counts another place of a value that is listed; false where it is graver there than in those that are known.
    func addPlace(of key: Int, _ severity: Severity) -> Bool {
        guard let index = listed.firstIndex(where: { $0.key == key }), listed[index].finding.severity >= severity else {
            return false
        }
        listed[index].places += 1
        return true
    }

    /// Lists a finding in the place of a less grave one of the same value, or of any that is less grave where there is no
    /// place; else counts it.
    ///
    /// - Returns: The key of the finding that had to go; the new one's own where that was only counted; nil for none.
    func list(_ finding: Finding, key: Int) -> Int? {
        defer { floor = listed.lazy.map(\.finding.severity).min() ?? .critical }
        if let index = listed.firstIndex(where: { $0.key == key }) {
            listed[index].finding = finding
            listed[index].places += 1
            return nil
        }
        guard listed.count >= limit else {
            listed.append(Listed(key: key, finding: finding))
            return nil
        }
        unlisted += 1
        guard let index = listed.lastIndex(where: { $0.finding.severity < finding.severity }) else { return key }
        let evicted = listed.remove(at: index).key
        listed.append(Listed(key: key, finding: finding))
        return evicted
    }

    /// What is listed, each with the number of its places.
    var findings: [Finding] {
        listed.map { $0.places > 1 ? $0.finding.adding("It lies in \($0.places) places of the file.") : $0.finding }
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
