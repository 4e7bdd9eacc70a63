internal import ContainerAudit

/// What `--explain` prints.
enum CheckExplanation {
    /// Stands for every check.
    static let everything = "all"

    static func text(_ id: String, json: Bool) throws(Failure) -> String {
        if id == everything { return json ? JSONText.array(AuditCheck.all.map(fields)).text : list }
        guard let check = AuditCheck.named(id), let text = AuditCheck.explanation(of: id) else {
            throw Failure(
                .usage, "noSuchCheck", "there is no check \(id)",
                hint: "sealctl audit --explain \(everything) lists them.")
        }
        // Printing adds the line's end.
        return json ? fields(check).text : String(text.dropLast())
    }

    private static var list: String {
        var table = TextTable([.init(title: "ID"), .init(title: "SEVERITY"), .init(title: "TITLE")])
        for check in AuditCheck.all { table.add([check.id, check.severity.rawValue, check.title]) }
        return table.text
    }

    private static func fields(_ check: AuditCheck) -> JSONText {
        .object([
            ("id", .string(check.id)), ("severity", .string(check.severity.rawValue)), ("title", .string(check.title)),
            ("meaning", .string(check.meaning)), ("remedy", .string(check.remedyText)),
            ("references", .array(check.references.map { .string($0) })),
        ])
    }
}
