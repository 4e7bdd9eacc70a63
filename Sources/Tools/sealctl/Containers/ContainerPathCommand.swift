internal import AppGroups
internal import ArgumentParser

/// `sealctl container path`: where a group's container lies.
struct ContainerPathCommand: SealctlCommand {
    static let configuration = CommandConfiguration(
        commandName: "path",
        abstract: "Print where a group's container lies.",
        discussion: """
            The container is opened and checked, and nothing is made. An opaque container changes its path when it is \
            reset or made anew: ask each time.

            Example:
              ls "$(sealctl container path --group group.com.example.app)"
              sealctl container path --json
            """)

    @OptionGroup var groupOptions: GroupOptions
    @OptionGroup(title: "Global options") var output: OutputOptions

    func perform() throws(Failure) {
        let group = try groupOptions.appGroup()
        let home = try GroupOptions.home()
        let container = try Failure.onGroup { () throws(AppGroupError) in
            try GroupContainer.open(group, in: home, creating: false)
        }
        try StandardStreams.print(
            output.json
                ? JSONText.object([
                    ("group", .string(group.identifier)), ("path", .string(container.path)),
                    ("style", .string(container.style.rawValue)),
                ]).text : container.path)
    }
}
