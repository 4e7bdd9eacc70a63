/// One thing that is wrong, or worth knowing, about a container.
public struct Finding: Codable, Sendable, Hashable {
    /// The check's stable id, such as `blob.tampered`; `docs/audit-checks.md` lists them all.
    public let id: String
    /// How much it matters here; it may differ from the check's usual severity.
    public let severity: Severity
    /// How sure the audit is.
    public let confidence: Confidence
    /// The file's path below the container, `.` for the container itself; an absolute path for what lies outside. Safe to
    /// print.
    public let path: String
    /// What was found, in a few words; the same for each finding of the check.
    public let title: String
    /// What was found here, in a sentence or two; never contents of files. Safe to print.
    public let detail: String
    /// What to do, with the command where there is one. Safe to print.
    public let remedy: String
    /// Where in the file; nil for what concerns the whole file.
    public var location: FindingLocation?
    /// Names this finding in ignore files and baselines; nil where the audit had no fingerprint key.
    public var fingerprint: String?
    /// The controls and tests of OWASP MASVS and MASTG that it answers, such as `MASVS-STORAGE-1`.
    public var references: [String] = []
}

/// How much a finding matters, from what is merely good to know to what has to be mended at once.
public enum Severity: String, Codable, Sendable, CaseIterable, Comparable, CustomStringConvertible {
    /// Good to know; a container with nothing else is clean.
    case info
    /// Untidy: it helps an attacker or a mistake a little.
    case low
    /// A protection is missing, and others still hold.
    case medium
    /// State can be read or changed by somebody who should not, or is being refused by its readers.
    case high
    /// Keys or secrets lie open, or somebody has tampered.
    case critical

    /// The word, as in JSON.
    public var description: String { rawValue }

    /// By weight.
    public static func < (a: Severity, b: Severity) -> Bool { a.weight < b.weight }

    private var weight: Int {
        switch self {
        case .info: 0
        case .low: 1
        case .medium: 2
        case .high: 3
        case .critical: 4
        }
    }

    /// One step up, at most `critical`.
    var raised: Severity { Self.allCases[min(weight + 1, Self.allCases.count - 1)] }

    /// One step down, at least `low`: lowering must not make a finding disappear from the count.
    var lowered: Severity { Self.allCases[max(weight - 1, 1)] }
}

/// How sure the audit is of a finding.
public enum Confidence: String, Codable, Sendable, CaseIterable, CustomStringConvertible {
    /// It was measured or authenticated.
    case certain
    /// Nothing that was seen speaks against it, and it could not be authenticated.
    case likely
    /// A hint by likeness.
    case possible

    /// The word, as in JSON.
    public var description: String { rawValue }
}

/// Where in a file a finding is, as far as that can be said.
public struct FindingLocation: Codable, Sendable, Hashable {
    /// The line, from 1, where the file is text.
    public var line: Int?
    /// The column in Unicode characters, from 1, where the file is text.
    public var column: Int?
    /// The first byte, from 0; nil where the value does not lie in the file in one piece.
    public var offset: Int64?
    /// How many bytes.
    public var length: Int64?
    /// The place in the file's structure: `accounts[2].token`, `table users, row 12, email`. Safe to print.
    public var place: String?

    /// A location; give what is known.
    public init(
        line: Int? = nil, column: Int? = nil, offset: Int64? = nil, length: Int64? = nil, place: String? = nil
    ) {
        self.line = line
        self.column = column
        self.offset = offset
        self.length = length
        self.place = place
    }
}

extension BinaryInteger {
    /// The number with what it counts: `1 byte`, `2 bytes`, `1 entry`, `2 entries`.
    ///
    /// - Parameter plural: The singular with an `s` unless stated.
    func counted(_ singular: String, _ plural: String? = nil) -> String {
        "\(self) \(self == 1 ? singular : plural ?? singular + "s")"
    }
}
