internal import SharedFiles

/// The findings that a person has reviewed as harmless: the fingerprints of `.sealauditignore`.
///
/// The file is text. A line contains a fingerprint and, after a space, the reason. A line `key: ID` identifies the key
/// of the fingerprints below it. Empty lines and lines that begin with `#` are ignored.
public struct AuditIgnoreList: Sendable, Hashable {
    /// An ignored finding.
    public struct Entry: Sendable, Hashable {
        /// The finding's fingerprint.
        public var fingerprint: String
        /// The reason why it is harmless; empty if not given.
        public var reason: String
        /// The id of the fingerprint's key, or `nil` if the file does not specify it.
        public var keyID: String?

        /// Creates an entry.
        public init(fingerprint: String, reason: String = "", keyID: String? = nil) {
            self.fingerprint = fingerprint
            self.reason = reason
            self.keyID = keyID
        }
    }

    /// The entries, in the order of the file.
    public var entries: [Entry] = []

    /// Creates an empty list.
    public init() {}

    /// Parses an ignore file.
    ///
    /// - Throws: `AuditError.malformedIgnoreList` for any other line, so that a misspelt entry is not accepted.
    public init(parsing text: String) throws(AuditError) {
        var keyID: String?
        for (index, line) in text.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline).enumerated() {
            let words = line.split(maxSplits: 1, whereSeparator: \.isWhitespace)
            guard let first = words.first, !first.hasPrefix("#") else { continue }
            let rest = words.count > 1 ? words[1].trimmed : ""
            if first == "key:", Fingerprint.isHexadecimal(rest, count: 16) {
                keyID = rest
            } else if Fingerprint.isWellFormed(first) {
                entries.append(Entry(fingerprint: String(first), reason: rest, keyID: keyID))
            } else {
                throw AuditError.malformedIgnoreList(line: index + 1)
            }
        }
    }

    /// The text of a file that parses to this list.
    public var text: String {
        var lines = ["# Findings of sealctl audit that are known to be harmless: a fingerprint, then the reason."]
        var keyID: String?
        for entry in entries.filter({ $0.keyID == nil }) + entries.filter({ $0.keyID != nil }) {
            if entry.keyID != keyID, let id = entry.keyID { lines.append("key: \(id)") }
            keyID = entry.keyID
            let reason = entry.reason.split(whereSeparator: \.isNewline).joined(separator: " ").trimmed
            lines.append(reason.isEmpty ? entry.fingerprint : "\(entry.fingerprint)  \(reason)")
        }
        return lines.joined(separator: "\n") + "\n"
    }

    /// Adds the findings of a report that have a fingerprint and are not in the list.
    public mutating func add(_ findings: some Sequence<Finding>, reason: String, key: FingerprintKey) {
        var known = Set(entries.map(\.fingerprint))
        for finding in findings {
            guard let fingerprint = finding.fingerprint, known.insert(fingerprint).inserted else { continue }
            entries.append(Entry(fingerprint: fingerprint, reason: reason, keyID: key.id))
        }
    }

    /// Returns the lines that add findings to the file of this list: those with a fingerprint that are not in it, each
    /// with a comment that describes it and a placeholder for the reason.
    ///
    /// - Returns: The lines, and the number of added findings.
    public func addition(of findings: some Sequence<Finding>, key: FingerprintKey) -> (text: String, count: Int) {
        var known = Set(entries.filter { $0.keyID == nil || $0.keyID == key.id }.map(\.fingerprint))
        var lines: [String] = []
        var count = 0
        for finding in findings {
            guard let fingerprint = finding.fingerprint, known.insert(fingerprint).inserted else { continue }
            let place = finding.location?.place.map { ", \($0)" } ?? ""
            lines += ["# \(finding.title): \(finding.path)\(place)", "\(fingerprint)  \(Self.missingReason)"]
            count += 1
        }
        // The lines above may belong to another key.
        if count > 0 { lines.insert("key: \(key.id)", at: 0) }
        return (lines.map { $0 + "\n" }.joined(), count)
    }

    private static let missingReason = "REASON"

    /// Adds the entries of another list that are not in this one.
    public mutating func add(_ other: AuditIgnoreList) {
        var known = Set(entries)
        entries += other.entries.filter { known.insert($0).inserted }
    }
}

extension StringProtocol {
    /// The text without surrounding white space.
    fileprivate var trimmed: String {
        let start = drop(while: \.isWhitespace)
        return String(start.reversed().drop(while: \.isWhitespace).reversed())
    }
}
