internal import AppGroups
internal import ArgumentParser
internal import AuditReports
internal import SealedState
internal import SharedFiles

/// `sealctl container reset`: empties a container.
struct ContainerResetCommand: SealctlCommand {
    static let configuration = CommandConfiguration(
        commandName: "reset",
        abstract: "Move a container to the trash, and create an empty one in its place.",
        discussion: """
            Members, quota and the vault remain. Programs that use the container continue in the new one. If the vault \
            can be opened, the new container gets a certificate, by which programs refuse records of the old one. The \
            command also abandons a container that is in the registry and was lost. It shows the contents and the \
            members of the container and asks first, unless --yes is given.

            Examples:
              sealctl container reset --group group.com.example.app
              sealctl container reset --yes --json
            """)

    @OptionGroup var groupOptions: GroupOptions
    @OptionGroup var confirmation: Confirmation
    @OptionGroup(title: "Key options") var keyOptions: KeyOptions
    @OptionGroup(title: "Global options") var output: OutputOptions

    func perform() throws(Failure) {
        let group = try groupOptions.appGroup()
        let home = try GroupOptions.home()
        let registry = GroupRegistry(group, in: home)
        if let loss = try ContainerLoss(of: group, in: home) {
            try confirmation.require("empty the container of \(group)", loss.sentences)
        }
        let trashed = try reset(registry, group)
        if output.json {
            let fields: [(String, JSONText)] = [
                ("group", .string(group.identifier)), ("trashed", .optional(trashed)),
            ]
            return try StandardStreams.print(JSONText.object(fields).text)
        }
        try StandardStreams.print(
            trashed.map { "\(group) is empty; its old container is in the trash: \($0.printable)" }
                ?? "\(group) has an empty container; its old one was missing")
    }
}

extension ContainerResetCommand {
    /// Seals the new container's certificate first: programs that follow must not find the container without it.
    private func reset(_ registry: GroupRegistry, _ group: AppGroup) throws(Failure) -> String? {
        var successor: ContainerSuccessor?
        var store: SealedStore?
        do throws(Failure) {
            let opened = try keyOptions.openStore(of: group)
            successor = try Failure.onStore { () throws(StoreError) in try opened.makeSuccessor() }
            store = opened
        } catch {
            successor = try withoutKeys(group)
            CertificateWarning.report(
                error, "Programs may accept records of the old container, or refuse those of users who have read less.",
                asJSON: output.json)
        }
        let trashed = try Failure.onGroup { () throws(AppGroupError) in
            try registry.reset(filling: successor.map { successor in successor.fill })
        }
        try? store?.acceptCertificate()
        return trashed
    }

    /// The new container has the backend of the old one.
    private func withoutKeys(_ group: AppGroup) throws(Failure) -> ContainerSuccessor? {
        let home = try GroupOptions.home()
        guard let container = try? GroupContainer.open(group, in: home, creating: false, entitlements: .unchecked)
        else { return nil }
        return try Failure.onStore { () throws(StoreError) in
            try ContainerSuccessor(withoutKeysOf: container, KnownBackend.provider)
        }
    }
}

/// The contents and the members of a group's container, before it goes to the trash.
struct ContainerLoss {
    private let group: AppGroup
    private let members: [GroupMember]
    /// The container; `nil` if it is not in its place.
    private let container: GroupContainer?

    /// - Returns: `nil` for a group without a container and without a registry.
    /// - Throws: `Failure` for a registry or a container that cannot be used.
    init?(of group: AppGroup, in home: GroupsHome) throws(Failure) {
        let registry = GroupRegistry(group, in: home)
        let entry = try Failure.onGroup { () throws(AppGroupError) in try registry.entry() }
        container = try? GroupContainer.open(group, in: home, creating: false, entitlements: .unchecked)
        if entry == nil && container == nil { return nil }
        self.group = group
        members = entry?.members ?? []
    }

    /// The losses and the programs that they affect.
    var sentences: [String] {
        let who = Affected.list(members.map(\.applicationIdentifier), orElse: "every program of the group")
        guard let container else { return ["The container does not exist; the registry abandons it for \(who)."] }
        let usage = container.usage()
        return [
            "\(usage.total.files) files with \(usage.total.bytes) bytes in \(container.path) are moved to the trash.",
            "Affected: \(who).",
        ]
    }

    /// Returns `true` if the container goes to the trash when these programs leave.
    func goesToTrash(without leaving: Set<String>) -> Bool {
        container?.style == .opaque && members.allSatisfy { leaving.contains($0.applicationIdentifier) }
    }

    /// The programs whose executable no longer exists.
    var gone: [String] { members.filter { !$0.isInstalled }.map(\.applicationIdentifier) }
}
