internal import AppGroups
internal import ArgumentParser
internal import AuditReports
internal import SealedState

/// `sealctl container trash`.
struct ContainerTrashCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "trash",
        abstract: "List abandoned containers, restore one, or delete them.",
        discussion: """
            Examples:
              sealctl container trash list
              sealctl container trash empty --older-than 30d
            """,
        subcommands: [TrashListCommand.self, TrashRestoreCommand.self, TrashEmptyCommand.self])
}

/// `sealctl container trash list`.
struct TrashListCommand: SealctlCommand {
    static let configuration = CommandConfiguration(
        commandName: "list",
        abstract: "List the containers in the trash.",
        discussion: """
            Examples:
              sealctl container trash list
              sealctl container trash list --json | jq -r '.[].path'
            """)

    @OptionGroup(title: "Global options") var output: OutputOptions

    func perform() throws(Failure) {
        let trash = ContainerTrash(home: try GroupOptions.home())
        let items = try Failure.onGroup { () throws(AppGroupError) in try trash.items() }.map { TrashView($0, trash) }
        if output.json { return try StandardStreams.print(JSONText.array(items.map(\.json)).text) }
        var table = TextTable([
            .init(title: "GROUP"), .init(title: "MOVED"), .init(title: "BYTES", isNumber: true), .init(title: "NAME"),
        ])
        for item in items { table.add(item.cells) }
        try StandardStreams.print(table.text)
    }
}

/// `sealctl container trash restore`.
struct TrashRestoreCommand: SealctlCommand {
    static let configuration = CommandConfiguration(
        commandName: "restore",
        abstract: "Restore a container.",
        discussion: """
            The group must have no container now; with --replace its present container is moved to the trash. The \
            container gets a new certificate, so that programs accept its records. Its members must be registered \
            again. An opaque container gets another name. Before a container is replaced the command shows its \
            contents and asks, unless --yes is given.

            Examples:
              sealctl container trash restore group.a~20261121T130405Z~0badcafe
              sealctl container trash restore --replace NAME
            """)

    @Argument(help: ArgumentHelp("Its name in the list.", valueName: "name"))
    var name: String
    @Flag(help: "Move the group's present container to the trash first.")
    var replace = false
    @OptionGroup var confirmation: Confirmation
    @OptionGroup(title: "Key options") var keyOptions: KeyOptions
    @OptionGroup(title: "Global options") var output: OutputOptions

    func perform() throws(Failure) {
        let home = try GroupOptions.home()
        if replace { try confirm(in: home) }
        acceptPresentCertificate(in: home)
        let (group, path, replaced) = try Failure.onGroup { () throws(AppGroupError) in
            let item = try TrashView.item(name, in: ContainerTrash(home: home))
            let replaced = try GroupRegistry(item.group, in: home).restore(item, replacing: replace)
            let container = try GroupContainer.open(item.group, in: home, creating: false, entitlements: .unchecked)
            return (item.group, container.path, replaced)
        }
        do throws(Failure) {
            let store = try keyOptions.openStore(of: group)
            _ = try Failure.onStore { () throws(StoreError) in try store.certifyAgain(isFormer: true) }
        } catch {
            CertificateWarning.report(
                error, "Programs may refuse its records: run sealctl container accept --former --group \(group).",
                asJSON: output.json)
        }
        let fields: [(String, JSONText)] = [("path", .string(path)), ("trashed", .optional(replaced))]
        try StandardStreams.print(output.json ? JSONText.object(fields).text : path)
    }

    /// Reads the certificate of the container that is replaced: the restored one gets a later one.
    private func acceptPresentCertificate(in home: GroupsHome) {
        guard let item = try? TrashView.item(name, in: ContainerTrash(home: home)),
            let store = try? keyOptions.openStore(of: item.group)
        else { return }
        try? store.acceptCertificate()
    }

    private func confirm(in home: GroupsHome) throws(Failure) {
        let item = try Failure.onGroup { () throws(AppGroupError) in
            try TrashView.item(name, in: ContainerTrash(home: home))
        }
        guard let loss = try ContainerLoss(of: item.group, in: home) else { return }
        try confirmation.require("replace the present container of \(item.group)", loss.sentences)
    }
}

/// `sealctl container trash empty`.
struct TrashEmptyCommand: SealctlCommand {
    static let configuration = CommandConfiguration(
        commandName: "empty",
        abstract: "Delete containers in the trash for good.",
        discussion: """
            Deletes all containers in the trash, or those of the given names, group or age. A deleted container cannot \
            be restored: the command lists them and asks first, unless --yes is given.

            Examples:
              sealctl container trash empty
              sealctl container trash empty --older-than 30d --yes
            """)

    @Argument(help: ArgumentHelp("Only the containers with these names of the list.", valueName: "name"))
    var names: [String] = []
    @Option(help: ArgumentHelp("Only containers of this group.", valueName: "G"))
    var of: String?
    @Option(
        help: ArgumentHelp("Only containers that were moved at least that long ago: 12h, 30d.", valueName: "TIME"),
        transform: PastTime.init(parsing:))
    var olderThan: PastTime?
    @OptionGroup var confirmation: Confirmation
    @OptionGroup(title: "Global options") var output: OutputOptions

    func perform() throws(Failure) {
        let trash = ContainerTrash(home: try GroupOptions.home())
        let items = try Failure.onGroup { () throws(AppGroupError) in try chosen(from: trash) }
        if !items.isEmpty {
            let groups = Set(items.map(\.group.identifier)).sorted()
            try confirmation.require(
                items.count == 1 ? "delete 1 container for good" : "delete \(items.count) containers for good",
                [
                    "Deleted: \(Affected.list(items.map(\.name), orElse: "")).",
                    "Affected: every program of \(Affected.list(groups, orElse: "")), whose state cannot be restored.",
                ])
        }
        trash.deleteLeftovers()
        for item in items { try Failure.onGroup { () throws(AppGroupError) in try trash.delete(item) } }
        try StandardStreams.print(
            output.json
                ? JSONText.object([("deleted", .array(items.map { .string($0.name) }))]).text
                : items.count == 1 ? "deleted 1 container" : "deleted \(items.count) containers")
    }

    private func chosen(from trash: ContainerTrash) throws(AppGroupError) -> [ContainerTrash.Item] {
        let group = try of.map { name throws(AppGroupError) in try AppGroup(name) }
        var items: [ContainerTrash.Item] = []
        for name in names { items.append(try TrashView.item(name, in: trash)) }
        if names.isEmpty { items = try trash.items() }
        return items.filter { item in
            (group == nil || item.group == group) && (olderThan.map { TrashView.isOlder(item, than: $0) } ?? true)
        }
    }
}

/// A container in the trash, for people and programs.
struct TrashView {
    let item: ContainerTrash.Item
    /// The usage; `nil` if it could not be measured.
    private let usage: ContainerUsage?

    init(_ item: ContainerTrash.Item, _ trash: ContainerTrash) {
        self.item = item
        usage = try? trash.usage(of: item)
    }

    var cells: [String] {
        [item.group.identifier, Self.time(item.moved), usage.map { String($0.total.bytes) } ?? "-", item.name]
    }

    var json: JSONText {
        .object([
            ("name", .string(item.name)), ("group", .string(item.group.identifier)),
            ("moved", .string(Self.time(item.moved))), ("bytes", usage.map { .number(Int($0.total.bytes)) } ?? .null),
            ("path", .string(item.path)),
        ])
    }

    /// Returns the time `20261121T130405Z` as `2026-11-21T13:04:05Z`.
    private static func time(_ compact: String) -> String {
        let text = Array(compact)
        guard text.count == 16 else { return compact }
        func part(_ range: Range<Int>) -> String { String(text[range]) }
        return "\(part(0..<4))-\(part(4..<6))-\(part(6..<8))T\(part(9..<11)):\(part(11..<13)):\(part(13..<15))Z"
    }

    /// Compares two times as text, because both forms sort by time.
    static func isOlder(_ item: ContainerTrash.Item, than limit: PastTime) -> Bool {
        time(item.moved) < String(limit.timestamp.rfc3339.prefix(19)) + "Z"
    }

    /// - Throws: `AppGroupError` `notInTrash`.
    static func item(_ name: String, in trash: ContainerTrash) throws(AppGroupError) -> ContainerTrash.Item {
        let items = try trash.items()
        guard let item = items.first(where: { $0.name == name }) else { throw .notInTrash(name) }
        return item
    }
}
