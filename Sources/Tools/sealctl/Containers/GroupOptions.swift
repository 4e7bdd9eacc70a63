internal import AppGroups
internal import ArgumentParser

/// The app group that a command works on.
struct GroupOptions: ParsableArguments {
    /// The variable that names the group where `--group` does not.
    static let variable = "SEALCTL_GROUP"

    @Option(
        help: ArgumentHelp(
            "The app group, such as group.com.example.app; $SEALCTL_GROUP unless stated.", valueName: "G"),
        completion: .custom { _, _, _ in RecordNames.groups() })
    var group: String?

    /// The identifier that was asked for, if any.
    var identifier: String? { group ?? Self.fromSettings }

    /// What the environment or a configuration file says.
    static var fromSettings: String? { Settings.current[.group]?.text }

    /// The checked group.
    func appGroup() throws(Failure) -> AppGroup {
        guard let identifier else {
            throw Failure(
                .usage, "noGroup", "no app group was named", hint: "Try --group G, or set \(Self.variable).")
        }
        return try Failure.onGroup { () throws(AppGroupError) in try AppGroup(identifier) }
    }

    /// Where groups lie.
    static func home() throws(Failure) -> GroupsHome {
        try Failure.onGroup { () throws(AppGroupError) in
            let home = try GroupsHome.current()
            return Settings.current[.vault].map { home.withVault(at: VaultDirectory.path($0.text)) } ?? home
        }
    }
}
