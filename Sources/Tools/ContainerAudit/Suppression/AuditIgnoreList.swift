internal import SharedFiles

/// What somebody has looked at and found harmless: the fingerprints of `.sealauditignore`.
///
/// The file is text. A line holds a fingerprint and, after a space, the reason. A line `key: ID` says which key the
/// fingerprints below it were made with; empty lines and lines that begin with `#` say nothing.
public struct AuditIgnoreList: Sendable, Hashable {
    /// One finding that is not to be reported.
    public struct Entry: Sendable, Hashable {
        /// The finding's fingerprint.
        public var fingerprint: String
        /// Why it is harmless; empty where nobody said.
        public var reason: String
        /// The id of the key that the fingerprint was made with; nil where the file does not say.
        public var keyID: String?

        /// An entry.
        public init(fingerprint: String, reason: String = "", keyID: String? = nil) {
            self.fingerprint = fingerprint
            self.reason = reason
            self.keyID = keyID
        }
    }

    /// The entries, in the order of the file.
    public var entries: [Entry] = []

    /// Ignores nothing.
    public init() {}

    /// Reads an ignore file.
    ///
    /// - Throws: `AuditError.malformedIgnoreList` for a line that is none of these: one that was misspelt must not pass
    ///   for an entry.
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

    /// The text of a file that reads back as this list.
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

    /// The lines that add findings to the file of this list: those that have a fingerprint and are not in it, each with the
    /// finding in words above it and a reason still to be written.
    ///
    /// - Returns: The lines, and how many findings they add.
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
        // Whatever key the lines above are of.
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
    /// Without white space around it.
    fileprivate var trimmed: String {
        let start = drop(while: \.isWhitespace)
        return String(start.reversed().drop(while: \.isWhitespace).reversed())
    }
}
