internal import AppGroups
internal import ArgumentParser
internal import AuditReports

/// `sealctl container quota`: shows or sets the largest size of a container.
struct ContainerQuotaCommand: SealctlCommand {
    static let configuration = CommandConfiguration(
        commandName: "quota",
        abstract: "Show or set the quota of a group's container in bytes.",
        discussion: """
            The library refuses a write of records, defaults and other data that exceeds the quota; deleting always \
            works. Files that programs write without the library count, but their growth is not limited. If the \
            registry and the container differ, the command shows both values. The next program that opens the group's \
            store applies the registry's value, and so does setting a quota here.

            Examples:
              sealctl container quota --group group.com.example.app
              sealctl container quota 64M
              sealctl container quota none
            """)

    @Argument(help: ArgumentHelp("Bytes, such as 5000, 64K, 10M or 2G (powers of 1024), or none.", valueName: "size"))
    var size: QuotaSize?
    @OptionGroup var groupOptions: GroupOptions
    @OptionGroup(title: "Global options") var output: OutputOptions

    func perform() throws(Failure) {
        let group = try groupOptions.appGroup()
        let home = try GroupOptions.home()
        let (quota, registered) = try Failure.onGroup { () throws(AppGroupError) in
            let registry = GroupRegistry(group, in: home)
            if let size { try registry.setQuota(size.bytes) }
            let quota = try GroupContainer.open(group, in: home, creating: false).quota()
            return (quota, try registry.entry()?.quota)
        }
        try StandardStreams.print(
            output.json
                ? JSONText.object([
                    ("group", .string(group.identifier)), ("quota", Self.json(quota)),
                    ("registered", Self.json(registered)),
                ]).text : Self.text(quota, registered))
    }

    private static func text(_ quota: Int64?, _ registered: Int64?) -> String {
        func word(_ quota: Int64?) -> String { quota.map { String($0) } ?? "none" }
        return quota == registered ? word(quota) : "\(word(quota))\nin the registry: \(word(registered))"
    }

    private static func json(_ quota: Int64?) -> JSONText { quota.map { .number(Int($0)) } ?? .null }
}

/// A number of bytes, or no limit.
struct QuotaSize: ExpressibleByArgument, Equatable {
    let bytes: Int64?

    init?(argument: String) {
        if argument == "none" {
            bytes = nil
            return
        }
        let units: [Character: Int64] = ["K": 1 << 10, "M": 1 << 20, "G": 1 << 30, "T": 1 << 40]
        let unit = argument.last.flatMap { units[$0] }
        let digits = unit == nil ? argument[...] : argument.dropLast()
        guard !digits.isEmpty, digits.utf8.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }),
            let number = Int64(digits)
        else { return nil }
        let (product, overflow) = number.multipliedReportingOverflow(by: unit ?? 1)
        if overflow { return nil }
        bytes = product
    }
}
