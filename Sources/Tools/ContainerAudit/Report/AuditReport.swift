public import FoundationEssentials
internal import SealedState

/// The contents of a container and its faults: plain data, in the same order for the same container.
public struct AuditReport: Sendable, Hashable {
    /// The start of the audit, in whole milliseconds.
    public let auditedAt: Date
    /// The end of the audit.
    public let finishedAt: Date
    /// The container's path. Safe to print.
    public let containerPath: String
    /// The app group, if the audit was given one.
    public let group: String?
    /// True if the group's vault was open, so that sealed blobs could be verified. Otherwise their contents are
    /// unknown: a clean report covers only the examined parts, and a note gives the reason.
    public let withKeys: Bool
    /// The files by path; directories only if they were not entered.
    public let files: [AuditedFile]
    /// The findings, most severe first, then by path.
    public let findings: [Finding]
    /// The notes on unexamined parts, with reasons. Safe to print.
    public let notes: [String]
    /// The findings that were left out.
    public let omissions: AuditOmissions

    /// - Parameter time: The start and the end of the audit.
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

    /// The number of findings of each severity, including those that were only counted; 0 for severities without
    /// findings.
    public var counts: [Severity: Int] {
        var counts = Dictionary(uniqueKeysWithValues: Severity.allCases.map { ($0, 0) })
        for finding in findings { counts[finding.severity, default: 0] += 1 }
        for entry in omissions.unlisted { counts[entry.severity, default: 0] += entry.count }
        return counts
    }

    /// True if nothing has to be fixed: no finding is above `info`, including those that were only counted.
    public var isClean: Bool {
        !findings.contains { $0.severity > .info }
            && !omissions.unlisted.contains { $0.severity > .info && $0.count > 0 }
    }
}

extension AuditReport: Codable {
    private enum Key: String, CodingKey {
        case auditedAt, finishedAt, containerPath, group, withKeys, files, findings, notes, counts, isClean, omissions
    }

    /// Decodes the output of `encode(to:)`. `counts` and `isClean` follow from the findings and are not decoded.
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

    /// Encodes every field, null for unknown values, and `counts` by severity and `isClean` for readers without
    /// arithmetic.
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
    /// Returns the report as JSON text: sorted keys, times as RFC 3339; `docs/audit-checks.md` lists the fields.
    public func json() throws -> Data {
        var text = Data()
        try writeJSON { text += $0 }
        return text
    }

    /// Writes the same text in pieces, in memory that does not grow with the report.
    ///
    /// - Parameter write: Consumes each piece, in order.
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

    /// The number of elements that are converted to text at once.
    private static let sliceSize = 256

    private func field(_ name: String, _ value: some Encodable) throws -> Data {
        Data("\"\(name)\":".utf8) + (try JSONCodec.encode(value))
    }

    /// Writes the elements of an array without its brackets.
    private func writeElements(of all: [some Encodable], _ write: (Data) throws -> Void) throws {
        for start in stride(from: 0, to: all.count, by: Self.sliceSize) {
            let slice = Array(all[start..<min(all.count, start + Self.sliceSize)])
            let elements = try JSONCodec.encode(slice).dropFirst().dropLast()
            try write(start == 0 ? elements : Data(",".utf8) + elements)
        }
    }

    /// Creates a report from the output of `json()`.
    public init(json: Data) throws {
        self = try json.withUnsafeBytes { try JSONCodec.decode(AuditReport.self, from: $0) }
    }
}
