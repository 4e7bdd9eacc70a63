internal import AppGroups
internal import ArgumentParser
internal import AuditReports

/// `sealctl container`.
struct ContainerCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "container",
        abstract: "Manage group containers: their paths, members, sizes and limits.",
        discussion: """
            A program's package registers the program when it is installed and unregisters it when it is removed. An \
            abandoned container is moved to the trash. Commands do not delete it without a request.

            Examples:
              sealctl container list
              sealctl container register com.example.app /usr/bin/app
              sealctl container usage --group group.com.example.app
            """,
        subcommands: [
            ContainerListCommand.self, ContainerPathCommand.self, ContainerMembersCommand.self,
            ContainerRegisterCommand.self, ContainerUnregisterCommand.self, ContainerResetCommand.self,
            ContainerAcceptCommand.self, ContainerBackendCommand.self,
            ContainerUsageCommand.self, ContainerQuotaCommand.self, ContainerRecordLimitCommand.self,
            ContainerTrashCommand.self,
        ])
}

/// `sealctl container path`: prints the path of a group's container.
struct ContainerPathCommand: SealctlCommand {
    static let configuration = CommandConfiguration(
        commandName: "path",
        abstract: "Print the path of a group's container.",
        discussion: """
            The command opens and checks the container and creates nothing. The path of an opaque container changes \
            when it is reset or created again: run the command each time.

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

/// `sealctl container list`: lists the groups.
struct ContainerListCommand: SealctlCommand {
    static let configuration = CommandConfiguration(
        commandName: "list",
        abstract: "List the groups that have a container or members.",
        discussion: """
            STATE is ok, none if the group has no container at present, or the reason why its container cannot be \
            used. GROUP is empty for a directory whose group is not known. The list omits containers of other users to \
            which this user has no access.

            Examples:
              sealctl container list
              sealctl container list --json | jq -r '.[] | select(.error) | .group'
            """)

    @OptionGroup(title: "Global options") var output: OutputOptions

    func perform() throws(Failure) {
        let list = ContainerList(home: try GroupOptions.home())
        let (items, strays) = try Failure.onGroup { () throws(AppGroupError) in
            (try list.items(), try list.unidentified())
        }
        if output.json {
            return try StandardStreams.print(JSONText.array(items.map(Self.json) + strays.map(Self.json)).text)
        }
        var table = TextTable([
            .init(title: "GROUP"), .init(title: "STYLE"), .init(title: "MEMBERS", isNumber: true),
            .init(title: "QUOTA", isNumber: true), .init(title: "STATE"), .init(title: "PATH"),
        ])
        for item in items {
            table.add([
                item.group.identifier, item.style?.rawValue ?? "-", String(item.members.count),
                item.quota.map { String($0) } ?? "-", Self.state(item), item.path ?? "-",
            ])
        }
        for stray in strays { table.add(["-", "opaque", "-", "-", stray.error.code.rawValue, stray.path]) }
        try StandardStreams.print(table.text)
    }

    private static func state(_ item: ContainerList.Item) -> String {
        item.error?.code.rawValue ?? (item.path == nil ? "none" : "ok")
    }

    private static func json(_ item: ContainerList.Item) -> JSONText {
        .object([
            ("group", .string(item.group.identifier)), ("style", .optional(item.style?.rawValue)),
            ("members", .array(item.members.map { .string($0.applicationIdentifier) })),
            ("quota", item.quota.map { .number(Int($0)) } ?? .null), ("path", .optional(item.path)),
            ("error", .optional(item.error?.code.rawValue)),
        ])
    }

    private static func json(_ stray: ContainerList.Unidentified) -> JSONText {
        .object([
            ("group", .null), ("style", .string(ContainerStyle.opaque.rawValue)), ("members", .array([])),
            ("quota", .null), ("path", .string(stray.path)), ("error", .string(stray.error.code.rawValue)),
        ])
    }
}

/// `sealctl container usage`: reports the size of a container.
struct ContainerUsageCommand: SealctlCommand {
    static let configuration = CommandConfiguration(
        commandName: "usage",
        abstract: "Print the size of a group's container and of its parts.",
        discussion: """
            BYTES are the sizes of the files, which a quota limits; DISK is the space that they occupy. A file with \
            two names counts once.

            Examples:
              sealctl container usage --group group.com.example.app
              sealctl container usage --json | jq .bytes
            """)

    @OptionGroup var groupOptions: GroupOptions
    @OptionGroup(title: "Global options") var output: OutputOptions

    func perform() throws(Failure) {
        let group = try groupOptions.appGroup()
        let home = try GroupOptions.home()
        let (usage, quota) = try Failure.onGroup { () throws(AppGroupError) in
            let container = try GroupContainer.open(group, in: home, creating: false)
            return (container.usage(), try container.quota())
        }
        try StandardStreams.print(output.json ? Self.json(usage, quota) : Self.text(usage, quota))
    }

    private static func text(_ usage: ContainerUsage, _ quota: Int64?) -> String {
        var table = TextTable([
            .init(title: "FILES", isNumber: true), .init(title: "BYTES", isNumber: true),
            .init(title: "DISK", isNumber: true), .init(title: "PART"),
        ])
        for part in usage.parts { table.add(cells(part.amount, part.path)) }
        table.add(cells(usage.total, "total"))
        var lines = [table.text]
        if let quota { lines.append("\(quota) bytes are allowed, \(max(0, quota - usage.total.bytes)) are free.") }
        if usage.unreadable > 0 { lines.append("\(usage.unreadable) could not be examined, and are not counted.") }
        return lines.joined(separator: "\n")
    }

    private static func cells(_ amount: ContainerUsage.Amount, _ name: String) -> [String] {
        [String(amount.files), String(amount.bytes), String(amount.allocatedBytes), name]
    }

    private static func json(_ usage: ContainerUsage, _ quota: Int64?) -> String {
        let parts = usage.parts.map { JSONText.object([("part", .string($0.path))] + fields($0.amount)) }
        return JSONText.object(
            fields(usage.total) + [
                ("quota", quota.map { .number(Int($0)) } ?? .null), ("unreadable", .number(usage.unreadable)),
                ("parts", .array(parts)),
            ]
        ).text
    }

    private static func fields(_ amount: ContainerUsage.Amount) -> [(String, JSONText)] {
        [
            ("files", .number(amount.files)), ("bytes", .number(Int(amount.bytes))),
            ("allocatedBytes", .number(Int(amount.allocatedBytes))),
        ]
    }
}
