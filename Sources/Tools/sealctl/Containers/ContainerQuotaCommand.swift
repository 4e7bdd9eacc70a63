internal import AppGroups
internal import ArgumentParser
internal import AuditReports

/// `sealctl container quota`: shows or sets the largest size of a container.
struct ContainerQuotaCommand: SealctlCommand {
    static let configuration = CommandConfiguration(
        commandName: "quota",
        abstract: "Show or set how many bytes a group's container may hold.",
        discussion: """
            Records, defaults and whatever else is written through the library are refused at the quota; deleting \
            always works. Files that are written in other ways count, and are not kept from growing. Where the registry \
            says something else than the container, both are shown; the next program that opens the group's store puts \
            the registry's into force, and so does setting it here.

            Examples:
              sealctl container quota --group group.com.example.app
              sealctl container quota 64M
              sealctl container quota none
            """)

    @Argument(help: ArgumentHelp("Bytes, as in 5000, 64K, 10M or 2G (of 1024), or none.", valueName: "size"))
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
        return quota == registered ? word(quota) : "\(word(quota))\nby the registry: \(word(registered))"
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
