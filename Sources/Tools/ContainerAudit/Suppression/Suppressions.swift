public import FoundationEssentials
internal import SealedState

/// The suppressions of a whole run: the ignore list and the baseline, as far as they were made with this run's key.
struct Suppressions: Sendable {
    private let fingerprint: Fingerprint?
    private let ignored: Set<String>
    /// The fingerprints that were certainly made with this run's key, so that an entry without a match is reported.
    private let surelyOurs: Set<String>
    private let baseline: [String: Int]
    /// The report's notes on lists that do not apply.
    let notes: [String]

    init(_ options: AuditOptions) {
        fingerprint = options.fingerprintKey.map(Fingerprint.init)
        let id = options.fingerprintKey?.id
        let entries = options.ignoring.entries
        let ours = id == nil ? [] : entries.filter { $0.keyID == nil || $0.keyID == id }
        ignored = Set(ours.map(\.fingerprint))
        surelyOurs = Set(ours.filter { $0.keyID != nil }.map(\.fingerprint))
        let isOurs = options.baseline.map { $0.keyID == id } ?? true
        baseline = isOurs ? options.baseline?.counts ?? [:] : [:]
        var notes: [String] = []
        if ours.count < entries.count { notes.append(Self.foreign(entries.count - ours.count, hasKey: id != nil)) }
        if !isOurs { notes.append("The baseline was made with another fingerprint key and was not applied.") }
        self.notes = notes
    }

    private static func foreign(_ count: Int, hasKey: Bool) -> String {
        let subject = count == 1 ? "1 entry of the ignore list does" : "\(count) entries of the ignore list do"
        let reason = hasKey ? "made with another fingerprint key" : "there is no fingerprint key"
        return "\(subject) not apply: \(reason)."
    }

    /// True if any finding can be suppressed.
    var isActive: Bool { !ignored.isEmpty || !baseline.isEmpty }

    /// Returns the fingerprint of a finding, or `nil` without a key.
    func text(
        of check: String, path: String, place: String = "",
        name: UnsafeRawBufferPointer = UnsafeRawBufferPointer(start: nil, count: 0),
        value: UnsafeRawBufferPointer = UnsafeRawBufferPointer(start: nil, count: 0)
    ) -> String? {
        fingerprint?.text(check: check, path: path, place: place, name: name, value: value)
    }

    func isIgnored(_ fingerprint: String) -> Bool { ignored.contains(fingerprint) }
    func countInBaseline(_ fingerprint: String) -> Int { baseline[fingerprint] ?? 0 }

    /// Returns the note on entries without a match.
    func note(onUnused used: Set<String>) -> String? {
        let unused = surelyOurs.subtracting(used).sorted()
        guard let first = unused.first else { return nil }
        let subject = unused.count == 1 ? "1 entry of the ignore list" : "\(unused.count) entries of the ignore list"
        return "\(subject) matched no finding and can be removed; the first is \(first)."
    }

    /// Returns the note on findings of the baseline that are gone.
    ///
    /// - Parameter used: The number of findings that were found again.
    func note(onBaseline used: Int) -> String? {
        let gone = baseline.values.reduce(0, +) - used
        guard gone > 0 else { return nil }
        let subject = gone == 1 ? "1 finding of the baseline is" : "\(gone) findings of the baseline are"
        return "\(subject) not found any more: write it again, so that these findings are reported if they return."
    }
}

/// The suppression of one file's findings. A fingerprint includes its file's path, so no two files share a baseline
/// entry.
struct FileSuppression {
    let rules: Suppressions
    private(set) var ignored = 0
    private(set) var inBaseline = 0
    /// The entries of the ignore list that matched.
    private(set) var used: Set<String> = []
    private var spent: [String: Int] = [:]

    init(_ rules: Suppressions) { self.rules = rules }

    /// Returns whether a finding is suppressed, and counts it if so.
    mutating func takes(_ fingerprint: String?) -> Bool {
        guard rules.isActive, let fingerprint else { return false }
        if rules.isIgnored(fingerprint) {
            ignored += 1
            used.insert(fingerprint)
            return true
        }
        let known = rules.countInBaseline(fingerprint)
        guard known > 0, spent[fingerprint, default: 0] < known else { return false }
        spent[fingerprint, default: 0] += 1
        inBaseline += 1
        return true
    }
}

/// The findings of an earlier audit, as the number of occurrences by fingerprint. A later audit reports only new
/// findings.
public struct AuditBaseline: Sendable, Hashable {
    /// The id of the fingerprints' key.
    public let keyID: String
    /// The number of occurrences of each fingerprint.
    public let counts: [String: Int]

    /// Creates a baseline from a report's list. Findings without a fingerprint, and those that are only counted, are
    /// excluded, so create the report with limits that list everything.
    public init(of report: AuditReport, key: FingerprintKey) {
        keyID = key.id
        counts = report.findings.compactMap(\.fingerprint).reduce(into: [:]) { $0[$1, default: 0] += 1 }
    }

    /// Parses the output of `json()`.
    ///
    /// - Throws: `AuditError.malformedBaseline`.
    public init(json: Data) throws(AuditError) {
        do {
            let document = try json.withUnsafeBytes { try JSONCodec.decode(Document.self, from: $0) }
            let isSound = document.findings.allSatisfy { Fingerprint.isWellFormed($0.key) && $0.value > 0 }
            guard document.format == Document.format, isSound else { throw AuditError.malformedBaseline }
            (keyID, counts) = (document.key, document.findings)
        } catch {
            throw .malformedBaseline
        }
    }

    /// Returns the baseline as JSON text with sorted keys: `format`, `key`, and `findings` with a number for each
    /// fingerprint.
    public func json() throws -> Data {
        try JSONCodec.encode(Document(format: Document.format, key: keyID, findings: counts))
    }

    private struct Document: Codable {
        static let format = "sealaudit-baseline-1"
        let format: String
        let key: String
        let findings: [String: Int]
    }
}
