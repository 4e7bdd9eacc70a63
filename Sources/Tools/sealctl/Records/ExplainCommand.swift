internal import ArgumentParser
internal import AuditReports
internal import SealedState
internal import Sealing

/// `sealctl explain`: explains why a record is refused, or what a rejection means.
struct ExplainCommand: SealctlCommand {
    static let configuration = CommandConfiguration(
        commandName: "explain",
        abstract: "Show the result of each check of a record, or the meaning of a rejection.",
        discussion: """
            If NAME is the name of a rejection, such as replayed, the command explains it. Any other NAME, or any NAME \
            with --record, is a record. The command makes every check of the record that does not need the type. It \
            does not store watermarks, and its exit status is that of get. Without NAME it lists all rejections.

            Examples:
              sealctl explain widget_auth_state
              sealctl explain replayed
            """)

    @OptionGroup var groupOptions: GroupOptions
    @Argument(
        help: ArgumentHelp("The name of a record or of a rejection.", valueName: "name"),
        completion: .custom { words, _, _ in RecordNames.records(words: words) + Explanation.names })
    var name: String?
    @Flag(help: "The argument is a record's name, even if a rejection has it.")
    var record = false
    @OptionGroup(title: "Key options") var keyOptions: KeyOptions
    @OptionGroup(title: "Global options") var output: OutputOptions

    func validate() throws {
        guard !record || name != nil else { throw ValidationError("Name the record that --record is about.") }
    }

    func perform() throws(Failure) {
        guard let name else { return try list() }
        if !record, let explanation = Explanation.named(name) {
            return try StandardStreams.print(output.json ? explanation.json.text : explanation.text)
        }
        try explain(name)
    }

    private func list() throws(Failure) {
        try StandardStreams.print(
            output.json ? JSONText.array(Explanation.all.map(\.json)).text : Explanation.table)
    }

    private func explain(_ name: String) throws(Failure) {
        let group = try groupOptions.appGroup()
        let store = try keyOptions.openStore(of: group)
        defer { WatermarkWarning.report(on: store, asJSON: output.json) }
        let examination = try Failure.onStore { () throws(StoreError) in
            try store.examine(name) { bytes, codec throws(StoreError) in
                try Self.check(bytes, codec, named: name, store.options)
            }
        }
        let view = ExaminationView(name: name, examination: examination)
        try StandardStreams.print(output.json ? view.json.text : view.text)
        if let error = examination.error { throw Failure(error) }
    }

    /// Checks that the contents are JSON, which needs no knowledge of the record's type.
    private static func check(
        _ bytes: UnsafeRawBufferPointer, _ codec: PayloadCodec, named name: String, _ options: StoreOptions
    ) throws(StoreError) {
        guard codec == .json else { return }
        do throws(JSONFault) { try JSONChecker.check(bytes, maximumDepth: options.maximumDepth) } catch {
            throw StoreError(
                .undecodable, "read", name,
                "It is authentic but not JSON (byte \(error.offset): \(error.reason)).")
        }
    }
}

/// The result of each check of one record.
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

/// The meaning of one rejection.
struct Explanation {
    private let code: StoreError.Code

    /// The rejections in the order of the checks, followed by two results that also end a read but are not rejections.
    static let all = (StoreError.Code.rejections + [.locked, .absent]).map(Explanation.init)

    /// The names that the completion offers.
    static var names: [String] { all.map(\.code.rawValue) }

    /// Returns the explanation of any code that this version knows.
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
