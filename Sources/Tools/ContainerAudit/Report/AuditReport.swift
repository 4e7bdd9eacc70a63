public import FoundationEssentials
internal import SealedState

/// What lies in a container and what is wrong with it: plain data, in the same order whenever the container is the same.
public struct AuditReport: Sendable, Hashable {
    /// When the audit began, in whole milliseconds.
    public let auditedAt: Date
    /// When it ended.
    public let finishedAt: Date
    /// The container's path. Safe to print.
    public let containerPath: String
    /// The app group, where the audit was asked for one.
    public let group: String?
    /// Whether the group's vault was open, so that sealed blobs could be verified. Without, nothing is known of what they hold: a report
    /// that is clean is so only as far as it saw, and a note says why it did not see more.
    public let withKeys: Bool
    /// Every file, by path; directories only where they were not entered.
    public let files: [AuditedFile]
    /// What was found, the gravest first, then by path.
    public let findings: [Finding]
    /// What could not be seen, and why. Safe to print.
    public let notes: [String]
    /// What was left out of the findings.
    public let omissions: AuditOmissions

    /// - Parameter time: When the audit began and ended.
    init(
        time: (began: Date, ended: Date), containerPath: String, group: String?, withKeys: Bool, files: [AuditedFile],
        findings: [Finding],
        notes: [String], omissions: AuditOmissions = AuditOmissions()
    ) {
        auditedAt = MillisecondTime.rounded(time.began)
        finishedAt = MillisecondTime.rounded(max(time.began, time.ended))
        self.containerPath = containerPath
        self.group = group
        self.withKeys = withKeys
        self.files = files
        self.findings = findings.sorted { $0.precedes($1) }
        self.notes = notes
        self.omissions = omissions
    }

    /// How many findings there are of each severity, those that were only counted included; 0 for severities without.
    public var counts: [Severity: Int] {
        var counts = Dictionary(uniqueKeysWithValues: Severity.allCases.map { ($0, 0) })
        for finding in findings { counts[finding.severity, default: 0] += 1 }
        for entry in omissions.unlisted { counts[entry.severity, default: 0] += entry.count }
        return counts
    }

    /// Whether nothing has to be mended: there is no finding above `info`, those that were only counted included.
    public var isClean: Bool {
        !findings.contains { $0.severity > .info }
            && !omissions.unlisted.contains { $0.severity > .info && $0.count > 0 }
    }
}

extension AuditReport: Codable {
    private enum Key: String, CodingKey {
        case auditedAt, finishedAt, containerPath, group, withKeys, files, findings, notes, counts, isClean, omissions
    }

    /// Reads what `encode(to:)` writes; `counts` and `isClean` follow from the findings and are not read.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: Key.self)
        self.init(
            time: (try Self.time(.auditedAt, container), try Self.time(.finishedAt, container)),
            containerPath: try container.decode(String.self, forKey: .containerPath),
            group: try container.decodeIfPresent(String.self, forKey: .group),
            withKeys: try container.decode(Bool.self, forKey: .withKeys),
            files: try container.decode([AuditedFile].self, forKey: .files),
            findings: try container.decode([Finding].self, forKey: .findings),
            notes: try container.decode([String].self, forKey: .notes),
            omissions: try container.decode(AuditOmissions.self, forKey: .omissions))
    }

    private static func time(_ key: Key, _ container: KeyedDecodingContainer<Key>) throws -> Date {
        guard let time = MillisecondTime.date(try container.decode(String.self, forKey: key)) else {
            throw DecodingError.dataCorruptedError(
                forKey: key, in: container, debugDescription: "Not an RFC 3339 time.")
        }
        return time
    }

    /// Writes every field, null for what is not known, and `counts` by severity and `isClean` for readers that do no arithmetic.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: Key.self)
        try container.encode(MillisecondTime.text(auditedAt), forKey: .auditedAt)
        try container.encode(MillisecondTime.text(finishedAt), forKey: .finishedAt)
        try container.encode(containerPath, forKey: .containerPath)
        try container.encode(group, forKey: .group)
        try container.encode(withKeys, forKey: .withKeys)
        try container.encode(files, forKey: .files)
        try container.encode(findings, forKey: .findings)
        try container.encode(notes, forKey: .notes)
        try container.encode(omissions, forKey: .omissions)
        let named = Dictionary(uniqueKeysWithValues: counts.map { ($0.key.rawValue, $0.value) })
        try container.encode(named, forKey: .counts)
        try container.encode(isClean, forKey: .isClean)
    }
}

extension AuditReport {
    /// The report as JSON text: sorted keys, times as RFC 3339; `docs/audit-checks.md` lists the fields.
    public func json() throws -> Data {
        var text = Data()
        try writeJSON { text += $0 }
        return text
    }

    /// Writes the same text piece by piece, in memory that does not grow with the report.
    ///
    /// - Parameter write: Takes each piece, in order.
    public func writeJSON(_ write: (Data) throws -> Void) throws {
        let began = try field("auditedAt", MillisecondTime.text(auditedAt))
        try write(Data("{".utf8) + began + Data(",".utf8) + field("containerPath", containerPath) + Data(",".utf8))
        let named = Dictionary(uniqueKeysWithValues: counts.map { ($0.key.rawValue, $0.value) })
        try write(field("counts", named) + Data(#","files":["#.utf8))
        try writeElements(of: files, write)
        try write(Data(#"],"findings":["#.utf8))
        try writeElements(of: findings, write)
        try write(Data("],".utf8))
        let rest = [
            try field("finishedAt", MillisecondTime.text(finishedAt)), try field("group", group),
            try field("isClean", isClean), try field("notes", notes),
            try field("omissions", omissions), try field("withKeys", withKeys),
        ]
        try write(Data(rest.joined(separator: Data(",".utf8))) + Data("}".utf8))
    }

    /// How many elements are text at once.
    private static let sliceSize = 256

    private func field(_ name: String, _ value: some Encodable) throws -> Data {
        Data("\"\(name)\":".utf8) + (try JSONCodec.encode(value))
    }

    /// The elements of an array without its brackets.
    private func writeElements(of all: [some Encodable], _ write: (Data) throws -> Void) throws {
        for start in stride(from: 0, to: all.count, by: Self.sliceSize) {
            let slice = Array(all[start..<min(all.count, start + Self.sliceSize)])
            let elements = try JSONCodec.encode(slice).dropFirst().dropLast()
            try write(start == 0 ? elements : Data(",".utf8) + elements)
        }
    }

    /// Reads what `json()` wrote.
    public init(json: Data) throws {
        self = try json.withUnsafeBytes { try JSONCodec.decode(AuditReport.self, from: $0) }
    }
}
