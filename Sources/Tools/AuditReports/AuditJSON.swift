internal import ContainerAudit
internal import FoundationEssentials

/// The report as one JSON object: the fields of `AuditReport`, sorted by name.
///
/// It is written file by file. `AuditReport(json:)` reads it, with any filter that was applied.
struct AuditJSON {
    private let view: AuditView

    init(_ view: AuditView) { self.view = view }

    func write(to sink: any ReportSink) {
        let report = view.report
        sink.write("{\"auditedAt\":" + JSONText.string(Timestamp(report.auditedAt).rfc3339).text)
        sink.write(",\"containerPath\":" + JSONText.string(report.containerPath).text)
        sink.write(",\"counts\":" + counts.text + ",\"files\":[")
        write(report.files, AuditedFileJSON.json, to: sink)
        sink.write("],\"findings\":[")
        write(view.findings, FindingJSON.json, to: sink)
        sink.write("],\"finishedAt\":" + JSONText.string(Timestamp(report.finishedAt).rfc3339).text)
        sink.write(",\"group\":" + JSONText.optional(report.group).text)
        sink.write(",\"isClean\":\(report.isClean),\"notes\":" + JSONText.array(view.notes.map { .string($0) }).text)
        sink.write(",\"omissions\":" + OmissionsJSON.json(report.omissions).text)
        sink.writeLine(",\"withKeys\":\(report.withKeys)}")
    }

    private var counts: JSONText {
        .object(
            view.report.counts.map { ($0.key.rawValue, JSONText.number($0.value)) }.sorted { $0.0 < $1.0 })
    }

    private func write<Element>(_ elements: [Element], _ json: (Element) -> JSONText, to sink: any ReportSink) {
        var separator = ""
        for element in elements {
            sink.write(separator + json(element).text)
            separator = ","
        }
    }
}

/// A finding as JSON.
enum FindingJSON {
    static func json(_ finding: Finding) -> JSONText { .object(fields(finding)) }

    /// Returns every field; unknown values are null.
    static func fields(_ finding: Finding) -> [(String, JSONText)] {
        [
            ("confidence", .string(finding.confidence.rawValue)), ("detail", .string(finding.detail)),
            ("fingerprint", .optional(finding.fingerprint)), ("id", .string(finding.id)),
            ("location", finding.location.map(location) ?? .null), ("path", .string(finding.path)),
            ("references", .array(finding.references.map { .string($0) })), ("remedy", .string(finding.remedy)),
            ("severity", .string(finding.severity.rawValue)), ("title", .string(finding.title)),
        ]
    }

    private static func location(_ location: FindingLocation) -> JSONText {
        .object([
            ("column", number(location.column)), ("length", number(location.length)), ("line", number(location.line)),
            ("offset", number(location.offset)), ("place", .optional(location.place)),
        ])
    }

    private static func number<Number: BinaryInteger>(_ number: Number?) -> JSONText {
        number.map { .number(Int($0)) } ?? .null
    }
}

/// A file as JSON.
enum AuditedFileJSON {
    static func json(_ file: AuditedFile) -> JSONText { .object(fields(file)) }

    /// Returns every field; unknown values are null.
    static func fields(_ file: AuditedFile) -> [(String, JSONText)] {
        [
            ("isPlaintext", .bool(file.isPlaintext)), ("kind", .string(file.kind.rawValue)),
            ("mode", .optional(file.mode.map(octal))),
            ("path", .string(file.path)), ("record", file.record.map(record) ?? .null),
            ("size", .number(Int(file.size))), ("storedSize", .number(Int(file.storedSize))),
            ("verdict", file.verdict.map(verdict) ?? .null),
        ]
    }

    /// Returns a mode in octal, with at least four digits.
    static func octal(_ mode: UInt32) -> String {
        let digits = String(mode, radix: 8)
        return String(repeating: "0", count: max(0, 4 - digits.count)) + digits
    }

    private static func record(_ facts: SealedFacts) -> JSONText {
        .object([
            ("epoch", .number(Int(facts.epoch))), ("isDeleted", .bool(facts.isDeleted)),
            ("keyID", .string(facts.keyID)), ("name", .optional(facts.name)),
            ("notAfter", .optional(facts.notAfter.map { Timestamp($0).rfc3339 })),
            ("schemaVersion", .number(facts.schemaVersion)),
            ("sealedAt", .string(Timestamp(facts.sealedAt).rfc3339)), ("sequence", .unsigned(facts.sequence)),
        ])
    }

    private static func verdict(_ verdict: Verdict) -> JSONText {
        switch verdict {
        case .verified: .object([("code", .null), ("state", .string("verified"))])
        case .unverified: .object([("code", .null), ("state", .string("unverified"))])
        case .refused(let code): .object([("code", .string(code)), ("state", .string("refused"))])
        }
    }
}

/// The omissions of an audit as JSON.
enum OmissionsJSON {
    static func json(_ omissions: AuditOmissions) -> JSONText {
        let unlisted = omissions.unlisted.map { entry in
            JSONText.object([
                ("count", .number(entry.count)), ("id", .string(entry.id)),
                ("severity", .string(entry.severity.rawValue)),
            ])
        }
        return .object([
            ("allowedInline", .number(omissions.allowedInline)), ("ignored", .number(omissions.ignored)),
            ("inBaseline", .number(omissions.inBaseline)), ("unlisted", .array(unlisted)),
        ])
    }
}

/// The report as one JSON object per line: the container, then each finding and each file, and the counts at the end.
///
/// Each object has a `type`: `audit`, `finding`, `file`, `note` or `summary`. Output without a `summary` is incomplete.
struct AuditJSONLines {
    private let view: AuditView

    init(_ view: AuditView) { self.view = view }

    func write(to sink: any ReportSink) {
        let report = view.report
        line(
            "audit",
            [
                ("auditedAt", .string(Timestamp(report.auditedAt).rfc3339)),
                ("finishedAt", .string(Timestamp(report.finishedAt).rfc3339)),
                ("containerPath", .string(report.containerPath)), ("group", .optional(report.group)),
                ("withKeys", .bool(report.withKeys)),
            ], to: sink)
        for finding in view.findings { line("finding", FindingJSON.fields(finding), to: sink) }
        for file in report.files { line("file", AuditedFileJSON.fields(file), to: sink) }
        for note in view.notes { line("note", [("text", .string(note))], to: sink) }
        line("summary", summary, to: sink)
    }

    private var summary: [(String, JSONText)] {
        let counts = Severity.allCases.map { ($0.rawValue, JSONText.number(view.report.counts[$0] ?? 0)) }
        return [
            ("isClean", .bool(view.report.isClean)), ("failing", .number(view.failing)),
            ("counts", .object(counts)), ("omissions", OmissionsJSON.json(view.report.omissions)),
        ]
    }

    private func line(_ type: String, _ fields: [(String, JSONText)], to sink: any ReportSink) {
        sink.writeLine(JSONText.object([("type", .string(type))] + fields).text)
    }
}
