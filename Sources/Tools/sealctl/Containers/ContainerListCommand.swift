internal import AppGroups
internal import ArgumentParser

/// `sealctl container list`: which groups there are.
struct ContainerListCommand: SealctlCommand {
    static let configuration = CommandConfiguration(
        commandName: "list",
        abstract: "List the groups that have a container or members.",
        discussion: """
            STATE is ok, none where the group has no container for now, or why its container can't be used. A directory \
            of which nothing says whose container it is has no GROUP. Containers of other users that this one may not \
            look at are left out.

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
