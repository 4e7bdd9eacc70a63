internal import AppGroups
internal import ArgumentParser
internal import AuditReports
internal import SealedState

/// `sealctl container backend`: shows the backend of a container's records, or moves them.
struct ContainerBackendCommand: SealctlCommand {
    static let configuration = CommandConfiguration(
        commandName: "backend",
        abstract: "Show where a container keeps its records, or move them.",
        discussion: """
            The backend is files, one for each record, or sqlite, a database in the container. To move the records, \
            give the name of the other one. Writers wait until all records are copied and compared; running programs \
            continue with the new backend, if they have it. After an interrupted move all records are still in one \
            place: run it again. It needs space for a second copy. A container that a unix group may write keeps its \
            records in files.

            Examples:
              sealctl container backend --group group.com.example.app
              sealctl container backend sqlite
              sealctl container backend files --json
            """)

    @Argument(help: ArgumentHelp("The backend that the records move to: files or sqlite.", valueName: "backend"))
    var backend: KnownBackend?
    @OptionGroup var groupOptions: GroupOptions
    @OptionGroup(title: "Global options") var output: OutputOptions

    func perform() throws(Failure) {
        let group = try groupOptions.appGroup()
        let home = try GroupOptions.home()
        let container = try Failure.onGroup { () throws(AppGroupError) in
            try GroupContainer.open(group, in: home, creating: false)
        }
        let moved = try backend.map { backend throws(Failure) in try move(container, to: backend) } ?? nil
        let name = try Failure.onStore { () throws(StoreError) in try ContainerBackend(of: container).name() }
        let word = name ?? KnownBackend.files.rawValue
        if output.json {
            let fields: [(String, JSONText)] = [
                ("group", .string(group.identifier)), ("backend", .string(word)),
                ("moved", moved.map { .number($0) } ?? .null),
            ]
            return try StandardStreams.print(JSONText.object(fields).text)
        }
        try StandardStreams.print(moved.map { "\(word), \($0) records moved" } ?? word.printable)
    }

    /// Returns the number of moved records; nil if they were there already.
    private func move(_ container: GroupContainer, to backend: KnownBackend) throws(Failure) -> Int? {
        let provider = try backend.provider() ?? KnownBackend.provider
        guard let provider else {
            // A container of files, or an error.
            try Failure.onStore { () throws(StoreError) in _ = try ContainerBackend(of: container).open(nil) }
            guard let path = ContainerLayout.databaseFiles.first(where: { (try? container.root.exists($0)) != false })
            else { return nil }
            throw Failure(
                .configuration, "backendUnknown", "there is a database without a name: \(container.root.display(path))",
                hint: "Use a sealctl that was built with the trait SQLite.")
        }
        let move = BackendMove(of: container, provider, timeout: .seconds(60))
        return try Failure.onStore { () throws(StoreError) in
            backend == .files ? try move.toFiles() : try move.toBackend()
        }
    }
}
