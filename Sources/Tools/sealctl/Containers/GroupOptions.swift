internal import AppGroups
internal import ArgumentParser
internal import Glibc
internal import SharedFiles

/// The app group that a command works on.
struct GroupOptions: ParsableArguments {
    /// The environment variable that names the group without `--group`.
    static let variable = "SEALCTL_GROUP"

    @Option(
        help: ArgumentHelp(
            "The app group, such as group.com.example.app; $SEALCTL_GROUP unless stated.", valueName: "G"),
        completion: .custom { _, _, _ in RecordNames.groups() })
    var group: String?

    /// The stated identifier, if any.
    var identifier: String? { group ?? Self.fromSettings }

    /// The identifier from the environment or a configuration file.
    static var fromSettings: String? { Settings.current[.group]?.text }

    /// Returns the checked group.
    func appGroup() throws(Failure) -> AppGroup {
        guard let identifier else {
            throw Failure(
                .usage, "noGroup", "no app group was named", hint: "Try --group G, or set \(Self.variable).")
        }
        return try Failure.onGroup { () throws(AppGroupError) in try AppGroup(identifier) }
    }

    /// Returns the directories of the groups.
    static func home() throws(Failure) -> GroupsHome {
        try Failure.onGroup { () throws(AppGroupError) in
            let home = try GroupsHome.current()
            return Settings.current[.vault].map { home.withVault(at: VaultDirectory.path($0.text)) } ?? home
        }
    }
}

/// The unix group that a new container or vault is shared with.
struct ShareOption: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "Share it with a unix group's members, by name or number; otherwise only its owner has access.",
            valueName: "UNIXGROUP"))
    var shareWith: String?

    /// - Throws: `Failure` `unknownUnixGroup`.
    func sharing() throws(Failure) -> Sharing {
        guard let shareWith else { return .ownerOnly }
        guard let number = Self.number(of: shareWith) else {
            throw Failure(
                .usage, "unknownUnixGroup", "there is no unix group \"\(shareWith)\"",
                hint: "See the groups: getent group.")
        }
        return .unixGroup(number)
    }

    /// Returns the number of a group. As in chgrp(1), a name takes precedence over a number.
    private static func number(of name: String) -> UInt32? {
        var size = 1 << 12
        while size <= 1 << 20 {
            var group = group()
            var found: UnsafeMutablePointer<group>?
            let status = withUnsafeTemporaryAllocation(of: CChar.self, capacity: size) {
                getgrnam_r(name, &group, $0.baseAddress, $0.count, &found)
            }
            if status != ERANGE { return found == nil ? UInt32(name) : group.gr_gid }
            // A group with many members needs more room.
            size *= 4
        }
        return nil
    }
}
