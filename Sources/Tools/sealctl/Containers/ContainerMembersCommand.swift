internal import AppGroups
internal import ArgumentParser

/// `sealctl container members`: which programs belong to a group.
struct ContainerMembersCommand: SealctlCommand {
    static let configuration = CommandConfiguration(
        commandName: "members",
        abstract: "List a group's member programs.",
        discussion: """
            STATE is installed, or gone where nothing lies at the executable's path any more.

            Examples:
              sealctl container members
              sealctl container members --json | jq -r '.[].application'
            """)

    @OptionGroup var groupOptions: GroupOptions
    @OptionGroup(title: "Global options") var output: OutputOptions

    func perform() throws(Failure) {
        let registry = GroupRegistry(try groupOptions.appGroup(), in: try GroupOptions.home())
        let members = try Failure.onGroup { () throws(AppGroupError) in try registry.members() }.map(MemberView.init)
        if output.json { return try StandardStreams.print(JSONText.array(members.map(\.json)).text) }
        var table = TextTable(MemberView.columns)
        for member in members { table.add(member.cells) }
        try StandardStreams.print(table.text)
    }
}
