internal import AppGroups
internal import ArgumentParser
internal import SharedFiles

/// `sealctl container reset`: empties a container.
struct ContainerResetCommand: SealctlCommand {
    static let configuration = CommandConfiguration(
        commandName: "reset",
        abstract: "Empty a container: it goes to the trash, and an empty one takes its place.",
        discussion: """
            Members, quota and the vault stay. Programs that watch the container's records go on in the new one. It \
            also gives up a container that the registry has and that is gone for good.

            Examples:
              sealctl container reset --group group.com.example.app
              sealctl container reset --json
            """)

    @OptionGroup var groupOptions: GroupOptions
    @OptionGroup(title: "Global options") var output: OutputOptions

    func perform() throws(Failure) {
        let group = try groupOptions.appGroup()
        let registry = GroupRegistry(group, in: try GroupOptions.home())
        let trashed = try Failure.onGroup { () throws(AppGroupError) in try registry.reset() }
        if output.json {
            let fields: [(String, JSONText)] = [
                ("group", .string(group.identifier)), ("trashed", .optional(trashed)),
            ]
            return try StandardStreams.print(JSONText.object(fields).text)
        }
        try StandardStreams.print(
            trashed.map { "\(group) is empty; what was there is in the trash: \($0.printable)" }
                ?? "\(group) has an empty container; its old one was gone")
    }
}
