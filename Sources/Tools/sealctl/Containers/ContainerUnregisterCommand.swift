internal import AppGroups
internal import ArgumentParser
internal import SharedFiles

/// `sealctl container unregister`: takes a program out of a group.
struct ContainerUnregisterCommand: SealctlCommand {
    static let configuration = CommandConfiguration(
        commandName: "unregister",
        abstract: "Take a program out of a group.",
        discussion: """
            For a package's removal. With its last member a container that was made with --behavior ios goes to the \
            trash: then the command asks first, unless --yes says yes. Every other one stays. Gone is a program only where nothing lies at its path, nor at the path that it was \
            registered with.

            Examples:
              sealctl container unregister com.example.app --yes
              sealctl container unregister --gone --group group.com.example.app
            """)

    @Argument(help: ArgumentHelp("The program, as it was registered.", valueName: "application"))
    var application: String?
    @Flag(help: "Take out every program whose executable is not there any more.")
    var gone = false
    @OptionGroup var groupOptions: GroupOptions
    @OptionGroup var confirmation: Confirmation
    @OptionGroup(title: "Global options") var output: OutputOptions

    func validate() throws {
        guard (application != nil) != gone else { throw ValidationError("Name one program, or give --gone.") }
    }

    func perform() throws(Failure) {
        let group = try groupOptions.appGroup()
        let home = try GroupOptions.home()
        let registry = GroupRegistry(group, in: home)
        if let loss = try ContainerLoss(of: group, in: home) {
            let leaving = application.map { [$0] } ?? loss.gone
            if !leaving.isEmpty && loss.goesToTrash(without: Set(leaving)) {
                try confirmation.require("take the last program out of \(group), with its container", loss.sentences)
            }
        }
        let (left, trashed) = try Failure.onGroup { () throws(AppGroupError) in
            if let application { return ([application], try registry.unregister(application)) }
            return try registry.unregisterThoseGone()
        }
        try report(left, trashed, of: group)
    }

    private func report(_ leaving: [String], _ trashed: String?, of group: AppGroup) throws(Failure) {
        if output.json {
            let fields: [(String, JSONText)] = [
                ("group", .string(group.identifier)), ("left", .array(leaving.map { .string($0) })),
                ("trashed", .optional(trashed)),
            ]
            return try StandardStreams.print(JSONText.object(fields).text)
        }
        var lines = leaving.map { "\($0) has left \(group)" }
        if leaving.isEmpty { lines = ["every member of \(group) is installed"] }
        if let trashed { lines.append("the container went with it to the trash: \(trashed.printable)") }
        try StandardStreams.print(lines.joined(separator: "\n"))
    }
}
