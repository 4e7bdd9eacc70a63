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
            also gives up a container that the registry has and that is gone for good. The command says what the container \
            holds and whose it is, and asks first; --yes says yes.

            Examples:
              sealctl container reset --group group.com.example.app
              sealctl container reset --yes --json
            """)

    @OptionGroup var groupOptions: GroupOptions
    @OptionGroup var confirmation: Confirmation
    @OptionGroup(title: "Global options") var output: OutputOptions

    func perform() throws(Failure) {
        let group = try groupOptions.appGroup()
        let home = try GroupOptions.home()
        let registry = GroupRegistry(group, in: home)
        if let loss = try ContainerLoss(of: group, in: home) {
            try confirmation.require("empty the container of \(group)", loss.sentences)
        }
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
