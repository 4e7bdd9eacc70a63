public import FoundationEssentials
internal import SealedState

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
