internal import AppGroups
internal import ArgumentParser

/// `sealctl container usage`: how much a container holds.
struct ContainerUsageCommand: SealctlCommand {
    static let configuration = CommandConfiguration(
        commandName: "usage",
        abstract: "Say how much a group's container holds, by its parts.",
        discussion: """
            BYTES are the sizes of the files, which a quota limits; DISK is what they take there. A file with two names \
            counts once.

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
        if usage.unreadable > 0 { lines.append("\(usage.unreadable) could not be looked at, and are not counted.") }
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
