internal import AppGroups
internal import SealedBackends
internal import SharedFiles

/// The name of a container's backend, in the container's file `.sealedstate.backend`. A container of files has none.
///
/// A program with another backend would find no records, and write its own beside those of the others.
struct BackendMarker {
    private let container: GroupContainer
    private let files: FileBackend
    private let locks: ContainerLocks
    private static let maximumSize = 64

    init(of container: GroupContainer, _ files: FileBackend, _ locks: ContainerLocks) {
        self.container = container
        self.files = files
        self.locks = locks
    }

    /// Throws unless the container has the backend of that name. An empty container without a name gets it.
    ///
    /// - Parameter name: The name; nil for files.
    /// - Throws: `StoreError` `.backendUnknown`.
    func require(_ name: String?) throws(StoreError) {
        let found = try read()
        if found == name { return }
        if let found { throw unknown("The container's records are in the backend \(found.printable).") }
        guard let name else { return }
        let lock = try StoreError.onFiles("name the backend of", container.group.identifier) { () throws(FileError) in
            try locks.lock(.whole, timeout: .seconds(5))
        }
        // Another program may have named it meanwhile.
        if try read() == name { return }
        let isEmpty = try StoreError.onBackend("list", container.group.identifier) { () throws(BackendError) in
            try files.scan("", after: nil, limit: 1).isEmpty
        }
        guard isEmpty else { throw unknown("The container has records in files.") }
        try StoreError.onFiles("name the backend of", container.group.identifier) { () throws(FileError) in
            try container.root.replace(
                ContainerLayout.backend, with: Array(name.utf8), mode: container.sharing.fileMode,
                group: container.sharing.groupID, durability: .durable)
        }
        lock.unlock()
    }

    private func read() throws(StoreError) -> String? {
        do throws(FileError) {
            return String(
                decoding: try container.root.read(ContainerLayout.backend, limit: Self.maximumSize), as: UTF8.self)
        } catch {
            if error.code == .notFound { return nil }
            throw StoreError(error, "read the backend of", container.group.identifier)
        }
    }

    private func unknown(_ reason: String) -> StoreError { StoreError(.backendUnknown, "open", container.path, reason) }
}
