internal import AppGroups
internal import ArgumentParser
internal import AuditReports
internal import SealedState

/// `sealctl container record-limit`: shows or sets the largest record of a container.
struct ContainerRecordLimitCommand: SealctlCommand {
    static let configuration = CommandConfiguration(
        commandName: "record-limit",
        abstract: "Show or set the largest record of a group in bytes.",
        discussion: """
            Programs that state no limit of their own use it, and so do all commands of sealctl. It is 1 MiB unless \
            another one is set, from 64 KiB to 64 MiB. Running programs notice a raised limit when they meet a larger \
            record, and a lowered one when they are started again. Records beyond a lowered limit are refused and stay \
            as they are. Larger contents are sealed files: sealctl file.

            Examples:
              sealctl container record-limit --group group.com.example.app
              sealctl container record-limit 4M
              sealctl container record-limit default
            """)

    @Argument(help: ArgumentHelp("Bytes, such as 262144 or 4M (powers of 1024), or default.", valueName: "size"))
    var size: RecordLimitSize?
    @OptionGroup var groupOptions: GroupOptions
    @OptionGroup(title: "Global options") var output: OutputOptions

    func perform() throws(Failure) {
        let group = try groupOptions.appGroup()
        let home = try GroupOptions.home()
        let limit = try Failure.onGroup { () throws(AppGroupError) in
            if let size { try GroupRegistry(group, in: home).setRecordLimit(size.bytes) }
            return try GroupContainer.open(group, in: home, creating: false).recordLimit
        }
        let bytes = limit ?? StoreOptions().maximumRecordSize
        try StandardStreams.print(
            output.json
                ? JSONText.object([
                    ("group", .string(group.identifier)), ("recordLimit", .number(bytes)),
                    ("isDefault", .bool(limit == nil)),
                ]).text : "\(bytes)")
    }
}

/// A number of bytes, or the usual limit.
struct RecordLimitSize: ExpressibleByArgument {
    /// The number; `nil` for the usual limit.
    let bytes: Int64?

    init?(argument: String) {
        if argument == "default" {
            bytes = nil
            return
        }
        guard let stated = QuotaSize(argument: argument)?.bytes else { return nil }
        bytes = stated
    }
}
