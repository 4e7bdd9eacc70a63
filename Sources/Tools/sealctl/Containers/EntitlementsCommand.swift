internal import AppGroups
internal import ArgumentParser
internal import AuditReports
internal import PropertyLists
internal import XcodeEntitlements

/// `sealctl entitlements`: reports the groups that programs of Xcode projects share, without Xcode.
struct EntitlementsCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "entitlements", abstract: "Check an Xcode project's entitlements and profiles.",
        discussion: """
            Works on any machine with the files of the project; Xcode and a Mac are not needed.

            Examples:
              sealctl entitlements check .
              sealctl entitlements show App/App.entitlements
              sealctl entitlements explain ENT001
            """,
        subcommands: [EntitlementsCheckCommand.self, EntitlementsShowCommand.self, EntitlementsExplainCommand.self])
}

/// `sealctl entitlements show`: prints the contents of one file.
struct EntitlementsShowCommand: SealctlCommand {
    static let configuration = CommandConfiguration(
        commandName: "show",
        abstract: "Show the contents of an entitlements file or a provisioning profile.",
        discussion: """
            Checks only the file's syntax. Build settings in it are shown unexpanded.

            Examples:
              sealctl entitlements show App/App.entitlements
              sealctl entitlements show App.mobileprovision
            """)

    @Argument(help: "An .entitlements file, XML or binary, or a provisioning profile.", completion: .file())
    var file: String
    @OptionGroup(title: "Global options") var output: OutputOptions

    func perform() throws(Failure) {
        let isProfile = file.hasSuffix(".mobileprovision") || file.hasSuffix(".provisionprofile")
        try StandardStreams.print(isProfile ? profile() : entitlements())
    }

    private func profile() throws(Failure) -> String {
        let profile: ProvisioningProfile
        do throws(ProvisioningError) {
            profile = try ProvisioningProfile.read(path: file)
        } catch { throw Failure(error) }
        guard !output.json else { return ProfileView(profile).json.text }
        let lines = ProfileDescription(profile, at: try EntitlementsCheckCommand.now()).lines
        return FieldList(lines.map { ($0.label, $0.value) }).text
    }

    private func entitlements() throws(Failure) -> String {
        let document = try Failure.onGroup { () throws(AppGroupError) in try EntitlementsDocument.read(path: file) }
        let view = EntitlementsView(document)
        return output.json ? view.json.text : view.text
    }
}

/// The contents of an entitlements document, for people and machines.
struct EntitlementsView {
    private let document: EntitlementsDocument

    init(_ document: EntitlementsDocument) { self.document = document }

    var text: String {
        var fields = FieldList()
        fields.add("app groups", Self.words(document.applicationGroups))
        fields.add("access groups", Self.words(document.keychainAccessGroups))
        fields.add("key-value store", document.keyValueStoreIdentifier ?? "-")
        fields.add("application", document.applicationIdentifier ?? "-")
        fields.add("team", document.teamIdentifier ?? "-")
        fields.add("sandbox", document.isSandboxed.map { $0 ? "yes" : "no" } ?? "-")
        fields.add("keys", document.keys.joined(separator: ", "))
        return fields.text
    }

    /// Returns the text of a list. A missing key and an empty list are different values.
    private static func words(_ list: [String]?) -> String {
        guard let list else { return "-" }
        return list.isEmpty ? "none: the list is empty" : list.joined(separator: ", ")
    }

    var json: JSONText {
        .object([
            ("applicationGroups", Self.list(document.applicationGroups)),
            ("keychainAccessGroups", Self.list(document.keychainAccessGroups)),
            ("keyValueStoreIdentifier", .optional(document.keyValueStoreIdentifier)),
            ("applicationIdentifier", .optional(document.applicationIdentifier)),
            ("teamIdentifier", .optional(document.teamIdentifier)),
            ("isSandboxed", document.isSandboxed.map { .bool($0) } ?? .null),
            ("keys", Self.list(document.keys)),
        ])
    }

    private static func list(_ texts: [String]?) -> JSONText {
        texts.map { .array($0.map { .string($0) }) } ?? .null
    }
}

/// The contents of a profile, for machines.
struct ProfileView {
    private let profile: ProvisioningProfile

    init(_ profile: ProvisioningProfile) { self.profile = profile }

    var json: JSONText {
        .object([
            ("name", .string(profile.name)), ("uuid", .string(profile.uuid)), ("kind", .string(profile.kind.rawValue)),
            ("applicationIdentifier", .optional(profile.applicationIdentifier)),
            ("teamIdentifiers", .array(profile.teamIdentifiers.map { .string($0) })),
            ("teamName", .optional(profile.teamName)),
            ("platforms", .array(profile.platforms.map { .string($0) })),
            ("created", .string(Timestamp(profile.creationDate).rfc3339)),
            ("expires", .string(Timestamp(profile.expirationDate).rfc3339)),
            ("isXcodeManaged", .bool(profile.isXcodeManaged)),
            ("certificates", .array(profile.certificates.map { .optional($0.commonName) })),
            ("signature", .string(profile.signature.title)),
            ("entitlements", EntitlementsView(profile.entitlements).json),
        ])
    }
}

/// `sealctl entitlements explain`: explains a finding.
struct EntitlementsExplainCommand: SealctlCommand {
    static let configuration = CommandConfiguration(
        commandName: "explain",
        abstract: "Explain a finding of the check and its remedy.",
        discussion: """
            ID is the id of a finding, such as ENT001, or its name. Without ID the command lists all findings.

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
                hint: "See all findings: sealctl entitlements explain")
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
