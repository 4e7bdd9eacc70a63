internal import AppGroups
internal import ArgumentParser
internal import AuditReports
internal import PropertyLists
internal import SharedFiles

/// `sealctl container members`: lists the programs of a group.
struct ContainerMembersCommand: SealctlCommand {
    static let configuration = CommandConfiguration(
        commandName: "members",
        abstract: "List a group's member programs.",
        discussion: """
            STATE is installed, or gone if no file exists at the executable's path.

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

/// A member program, for people and programs.
struct MemberView {
    static let columns: [TextTable.Column] = [
        .init(title: "APPLICATION"), .init(title: "REGISTERED"), .init(title: "STATE"), .init(title: "EXECUTABLE"),
    ]

    let member: GroupMember

    var cells: [String] {
        [
            member.applicationIdentifier, registered.short, member.isInstalled ? "installed" : "gone",
            member.executablePath,
        ]
    }

    var json: JSONText {
        .object([
            ("application", .string(member.applicationIdentifier)), ("executable", .string(member.executablePath)),
            ("registered", .string(registered.rfc3339)), ("installed", .bool(member.isInstalled)),
        ])
    }

    private var registered: Timestamp { Timestamp(UInt64(max(0, member.registered.secondsSince1970 * 1000))) }
}

/// `sealctl container register`: adds a program to a group.
struct ContainerRegisterCommand: SealctlCommand {
    static let configuration = CommandConfiguration(
        commandName: "register",
        abstract: "Register a program as a member of a group.",
        discussion: """
            For a package's installation. If the group has no container, the command creates one. With --behavior ios \
            it gets an opaque name and is moved to the trash when its last member is unregistered. With --behavior \
            macos it is named for the group's identifier and is permanent. Registering a program again changes the \
            path of its executable.

            Examples:
              sealctl container register com.example.app /usr/bin/app
              sealctl container register com.example.widget /usr/bin/widget --behavior ios
            """)

    @Argument(
        help: ArgumentHelp("The program's application identifier, as in its entitlements.", valueName: "application"))
    var application: String
    @Argument(help: ArgumentHelp("The path of its executable.", valueName: "executable"), completion: .file())
    var executable: String
    @OptionGroup var groupOptions: GroupOptions
    @Option(help: ArgumentHelp("The style of a new container: ios or macos.", valueName: "SYSTEM"))
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

/// `sealctl container unregister`: removes a program from a group.
struct ContainerUnregisterCommand: SealctlCommand {
    static let configuration = CommandConfiguration(
        commandName: "unregister",
        abstract: "Unregister a program of a group.",
        discussion: """
            For a package's removal. A container that was created with --behavior ios is moved to the trash with its \
            last member; the command then asks first, unless --yes is given. Every other container remains.

            With --gone, a program counts as removed only if no file exists at its path and at the path with which it \
            was registered.

            Examples:
              sealctl container unregister com.example.app --yes
              sealctl container unregister --gone --group group.com.example.app
            """)

    @Argument(
        help: ArgumentHelp("The program's application identifier, as it was registered.", valueName: "application"))
    var application: String?
    @Flag(help: "Unregister every program whose executable does not exist any more.")
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
                try confirmation.require(
                    "unregister the last program of \(group), and move its container to the trash", loss.sentences)
            }
        }
        let (left, trashed) = try Failure.onGroup { () throws(AppGroupError) in
            if let application { return ([application], try registry.unregister(application)) }
            return try registry.unregisterRemoved()
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
        var lines = leaving.map { "\($0) is unregistered from \(group)" }
        if leaving.isEmpty { lines = ["every member of \(group) is installed"] }
        if let trashed { lines.append("the container was moved to the trash: \(trashed.printable)") }
        try StandardStreams.print(lines.joined(separator: "\n"))
    }
}
