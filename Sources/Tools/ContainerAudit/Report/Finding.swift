/// A fault of a container, or a fact worth knowing.
public struct Finding: Codable, Sendable, Hashable {
    /// The check's stable id, such as `blob.tampered`; `docs/audit-checks.md` lists all ids.
    public let id: String
    /// The severity in this case, which may differ from the check's default.
    public let severity: Severity
    /// The certainty of the finding.
    public let confidence: Confidence
    /// The file's path relative to the container, `.` for the container itself; an absolute path outside of it. Safe to
    /// print.
    public let path: String
    /// The kind of finding in a few words; the same for each finding of the check.
    public let title: String
    /// The specific finding in a sentence or two; never contents of files. Safe to print.
    public let detail: String
    /// The remedy, with a command if available. Safe to print.
    public let remedy: String
    /// The location in the file, or `nil` if the finding concerns the whole file.
    public var location: FindingLocation?
    /// The name of this finding in ignore files and baselines, or `nil` without a fingerprint key.
    public var fingerprint: String?
    /// The related controls and tests of OWASP MASVS and MASTG, such as `MASVS-STORAGE-1`.
    public var references: [String] = []
}

/// The severity of a finding, from information to faults that must be fixed immediately.
public enum Severity: String, Codable, Sendable, CaseIterable, Comparable, CustomStringConvertible {
    /// A fact worth knowing. A container with only such findings is clean.
    case info
    /// An irregularity that helps an attacker or a mistake a little.
    case low
    /// A missing protection while others remain effective.
    case medium
    /// State that unauthorised users can read or change, or that its readers refuse.
    case high
    /// Plaintext keys or secrets, or evidence of tampering.
    case critical

    /// The severity as a word, as in JSON.
    public var description: String { rawValue }

    /// Returns whether the first severity is less than the second.
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

    /// The next higher severity, at most `critical`.
    var raised: Severity { Self.allCases[min(weight + 1, Self.allCases.count - 1)] }

    /// The next lower severity, at least `low`, so that lowering does not remove a finding from the count.
    var lowered: Severity { Self.allCases[max(weight - 1, 1)] }
}

/// The certainty of a finding.
public enum Confidence: String, Codable, Sendable, CaseIterable, CustomStringConvertible {
    /// The finding was measured or authenticated.
    case certain
    /// The finding could not be authenticated, but nothing contradicts it.
    case likely
    /// The finding is a hint by similarity.
    case possible

    /// The confidence as a word, as in JSON.
    public var description: String { rawValue }
}

/// The location of a finding in a file, as far as known.
public struct FindingLocation: Codable, Sendable, Hashable {
    /// The line from 1, if the file is text.
    public var line: Int?
    /// The column in Unicode characters from 1, if the file is text.
    public var column: Int?
    /// The first byte from 0, or `nil` if the value is not contiguous in the file.
    public var offset: Int64?
    /// The number of bytes.
    public var length: Int64?
    /// The position in the file's structure: `accounts[2].token`, `table users, row 12, email`. Safe to print.
    public var place: String?

    /// Creates a location from the known values.
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
    /// Returns the number with its noun: `1 byte`, `2 bytes`, `1 entry`, `2 entries`.
    ///
    /// - Parameter plural: The plural; by default the singular with an `s`.
    func counted(_ singular: String, _ plural: String? = nil) -> String {
        "\(self) \(self == 1 ? singular : plural ?? singular + "s")"
    }
}
