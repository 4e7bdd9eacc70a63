internal import AppGroups
internal import ArgumentParser
internal import Glibc

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
    var identifier: String? { group ?? Self.fromEnvironment }

    static var fromEnvironment: String? {
        guard let value = getenv(variable), value.pointee != 0 else { return nil }
        return String(cString: value)
    }

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
        try Failure.onGroup { () throws(AppGroupError) in try GroupsHome.current() }
    }
}
