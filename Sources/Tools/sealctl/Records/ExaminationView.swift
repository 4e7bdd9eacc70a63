internal import SealedState

/// What came of each check of one record.
struct ExaminationView {
    let name: String
    let examination: ReadExamination

    var text: String {
        var table = TextTable([.init(title: "CHECK"), .init(title: "RESULT"), .init(title: "MEANING")])
        for check in ReadCheck.allCases {
            table.add([check.rawValue, Self.word(examination.outcome(of: check)), check.meaning])
        }
        guard let error = examination.error else { return table.text }
        let fields = FieldList([
            (error.isRejection ? "refused" : "not read", error.code.rawValue), ("meaning", error.code.explanation),
            ("reason", error.reason), ("advice", error.advice),
        ])
        return "\(table.text)\n\n\(fields.text)"
    }

    var json: JSONText {
        let checks = ReadCheck.allCases.map { check in
            JSONText.object([
                ("check", .string(check.rawValue)), ("result", .string(examination.outcome(of: check).rawValue)),
            ])
        }
        return .object([("name", .string(name)), ("checks", .array(checks)), ("error", error)])
    }

    private var error: JSONText {
        guard let error = examination.error else { return .null }
        return .object([
            ("code", .string(error.code.rawValue)), ("isRejection", .bool(error.isRejection)),
            ("check", .optional(error.code.check?.rawValue)), ("explanation", .string(error.code.explanation)),
            ("reason", .string(error.reason)), ("advice", .string(error.advice)),
        ])
    }

    private static func word(_ outcome: ReadExamination.Outcome) -> String {
        switch outcome {
        case .ok: "ok"
        case .refused: "refused"
        case .locked: "locked"
        case .notReached: "not reached"
        case .needsType: "needs the type"
        }
    }
}
