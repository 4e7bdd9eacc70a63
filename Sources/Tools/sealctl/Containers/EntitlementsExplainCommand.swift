internal import ArgumentParser
internal import XcodeEntitlements

/// `sealctl entitlements explain`: what a finding means.
struct EntitlementsExplainCommand: SealctlCommand {
    static let configuration = CommandConfiguration(
        commandName: "explain",
        abstract: "Say what a finding of the check means, and what to do.",
        discussion: """
            ID is that of a finding, such as ENT001, or its name. Without ID all of them are listed.

            Examples:
              sealctl entitlements explain ENT001
              sealctl entitlements explain group-not-in-profile
            """)

    @Argument(
        help: ArgumentHelp("The id or name of a finding.", valueName: "id"),
        completion: .list(ProjectRule.all.map(\.id)))
    var id: String?
    @OptionGroup(title: "Global options") var output: OutputOptions

    func perform() throws(Failure) {
        guard let id else { return try list() }
        guard let rule = ProjectRule.named(id) else {
            throw Failure(
                .usage, "unknownFinding", "there is no finding \(id)",
                hint: "See all of them: sealctl entitlements explain")
        }
        try StandardStreams.print(output.json ? Self.json(rule).text : Self.text(rule))
    }

    private func list() throws(Failure) {
        try StandardStreams.print(output.json ? JSONText.array(ProjectRule.all.map(Self.json)).text : Self.table)
    }

    private static func text(_ rule: ProjectRule) -> String {
        FieldList([
            ("id", rule.id), ("name", rule.name), ("severity", rule.severity.rawValue), ("title", rule.title),
            ("meaning", rule.meaning), ("remedy", rule.remedy),
        ]).text
    }

    private static var table: String {
        var table = TextTable([
            .init(title: "ID"), .init(title: "SEVERITY"), .init(title: "NAME"), .init(title: "TITLE"),
        ])
        for rule in ProjectRule.all { table.add([rule.id, rule.severity.rawValue, rule.name, rule.title]) }
        return table.text
    }

    private static func json(_ rule: ProjectRule) -> JSONText {
        .object([
            ("id", .string(rule.id)), ("name", .string(rule.name)), ("severity", .string(rule.severity.rawValue)),
            ("title", .string(rule.title)), ("meaning", .string(rule.meaning)), ("remedy", .string(rule.remedy)),
        ])
    }
}
