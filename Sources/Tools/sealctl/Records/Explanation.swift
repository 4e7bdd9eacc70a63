internal import SealedState

/// What one rejection means.
struct Explanation {
    private let code: StoreError.Code

    /// The rejections in the order of the checks, and the two answers that are no rejections but end a read as well.
    static let all = (StoreError.Code.rejections + [.locked, .absent]).map(Explanation.init)

    /// What the completion offers.
    static var names: [String] { all.map(\.code.rawValue) }

    /// The explanation of any code that this version knows.
    static func named(_ name: String) -> Explanation? {
        StoreError.Code.all.first { $0.rawValue == name }.map(Explanation.init)
    }

    private init(_ code: StoreError.Code) { self.code = code }

    private var status: ExitStatus { StatusTable.status(of: code) }

    var text: String {
        FieldList([
            ("name", code.rawValue), ("check", check), ("meaning", code.explanation), ("advice", code.defaultAdvice),
            ("status", "\(status.rawValue)"),
        ]).text
    }

    private var check: String { code.check.map { "\($0.rawValue): \($0.meaning)" } ?? "none" }

    var json: JSONText {
        .object([
            ("code", .string(code.rawValue)), ("isRejection", .bool(code.isRejection)),
            ("check", .optional(code.check?.rawValue)), ("explanation", .string(code.explanation)),
            ("advice", .string(code.defaultAdvice)), ("status", .number(Int(status.rawValue))),
        ])
    }

    static var table: String {
        var table = TextTable([
            .init(title: "NAME"), .init(title: "CHECK"), .init(title: "STATUS", isNumber: true),
            .init(title: "MEANING"),
        ])
        for explanation in all {
            let code = explanation.code
            table.add([
                code.rawValue, code.check?.rawValue ?? "-", String(explanation.status.rawValue), code.explanation,
            ])
        }
        return table.text
    }
}
