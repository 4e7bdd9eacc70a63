internal import AppGroups
internal import ArgumentParser
internal import SharedFiles

/// `sealctl container register`: takes a program into a group.
struct ContainerRegisterCommand: SealctlCommand {
    static let configuration = CommandConfiguration(
        commandName: "register",
        abstract: "Take a program into a group.",
        discussion: """
            For a package's installation. The container is made if the group has none: with --behavior ios under a name \
            that says nothing, and it goes to the trash when its last member leaves; with --behavior macos under the \
            group's identifier, for good. Registering a program again changes where its executable lies.

            Examples:
              sealctl container register com.example.app /usr/bin/app
              sealctl container register com.example.widget /usr/bin/widget --behavior ios
            """)

    @Argument(help: ArgumentHelp("The program, as its entitlements name it.", valueName: "application"))
    var application: String
    @Argument(help: ArgumentHelp("The path of its executable.", valueName: "executable"), completion: .file())
    var executable: String
    @OptionGroup var groupOptions: GroupOptions
    @Option(help: ArgumentHelp("How a container is made: ios or macos.", valueName: "SYSTEM"))
    var behavior: BehaviorName?
    @OptionGroup var share: ShareOption
    @OptionGroup(title: "Global options") var output: OutputOptions

    func perform() throws(Failure) {
        let group = try groupOptions.appGroup()
        let registry = GroupRegistry(group, in: try GroupOptions.home())
        let sharing = try share.sharing()
        let container = try Failure.onGroup { () throws(AppGroupError) in
            let member = try GroupMember(applicationIdentifier: application, executablePath: executable)
            return try registry.register(member, behavior: behavior?.behavior, sharing: sharing)
        }
        try StandardStreams.print(
            output.json
                ? JSONText.object([
                    ("group", .string(group.identifier)), ("application", .string(application)),
                    ("path", .string(container.path)), ("style", .string(container.style.rawValue)),
                ]).text
                : "\(application) belongs to \(group): \(container.path.printable)")
    }
}

/// A system's name on the command line.
enum BehaviorName: String, ExpressibleByArgument, CaseIterable {
    case ios, macos

    var behavior: ContainerBehavior {
        switch self {
        case .ios: .iOS
        case .macos: .macOS
        }
    }
}
