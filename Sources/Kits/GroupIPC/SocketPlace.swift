internal import AppGroups
internal import SharedFiles

/// A container's directory of sockets, checked.
struct SocketPlace: Sendable {
    let name: GroupIPCName
    let directory: Directory
    let sharing: Sharing

    /// - Throws: `AppGroupError`; with `nobodyListens` if the directory is missing and is not to be created.
    init(_ name: GroupIPCName, in container: GroupContainer, creating: Bool) throws(AppGroupError) {
        self.name = name
        sharing = container.sharing
        do throws(FileError) {
            directory = try IPCPlace.directory(ContainerLayout.sockets, in: container, creating: creating)
        } catch {
            if !creating && error.code == .notFound { throw Self.notListening(name) }
            throw AppGroupError(error, openingContainerOf: container.group)
        }
    }

    static func notListening(_ name: GroupIPCName) -> AppGroupError {
        .ipc(
            .nobodyListens, "connect to", name.description, "no process listens under that name",
            "Start the program that listens there.")
    }

    /// Returns a listening socket; replaces a dead listener's file.
    ///
    /// - Throws: `AppGroupError` with `socketInUse`, `file`.
    func listen() throws(AppGroupError) -> ListeningSocket {
        do throws(FileError) {
            let lock = try lock()
            guard try isFree() else { throw FileError(.alreadyExists, operation: "listen at", path: path) }
            let socket = try LocalSocket.listen(at: name.name, in: directory, mode: sharing.fileMode, .stream)
            let identity = try directory.attributes(name.name)
            lock.unlock()
            return ListeningSocket(socket: socket, identity: identity)
        } catch {
            guard error.code == .alreadyExists else { throw AppGroupError(error, "listen", ipc: name) }
            throw .ipc(
                .socketInUse, "listen", path, "another process listens there, or it is not a socket",
                "See the process with ss -xlp; stop it, or choose another name.")
        }
    }

    private func lock(_ limit: Duration = IPCPlace.lockLimit) throws(FileError) -> HeldLock {
        try LockFile(directory: directory, name: IPCPlace.lockName, mode: sharing.fileMode)
            .acquire(.whole, .exclusive, timeout: limit)
    }

    /// The socket's path, for messages.
    var path: String { directory.display(name.name) }

    /// Returns whether the name is free or belongs to a socket without a listener. Requires the lock.
    private func isFree() throws(FileError) -> Bool {
        guard try directory.exists(name.name) else { return true }
        // Connects with the other socket type: a live listener rejects it without getting an unwanted connection.
        switch try LocalSocket.connect(to: name.name, in: directory, .packets) {
        case .gone: return true
        default: return false
        }
    }

    /// Removes the name if it still belongs to that socket. If the lock is not free in time, the name stays, like a
    /// dead listener's.
    func remove(_ identity: FileAttributes, _ limit: Duration) {
        guard let lock = try? lock(limit) else { return }
        if let facts = try? directory.attributes(name.name), facts.isSameFile(as: identity) {
            try? directory.remove(name.name, durability: .unsynced)
        }
        lock.unlock()
    }

    /// - Throws: `AppGroupError` with `nobodyListens`, `timeout`, `file`.
    func connect(_ wait: SocketWait) throws(AppGroupError) -> Descriptor {
        while true {
            if let socket = try connectAtOnce() { return socket }
            try wait.pause(.milliseconds(1))
        }
    }

    /// Returns nil if the listener's backlog is full.
    ///
    /// - Throws: `AppGroupError` with `nobodyListens`, `file`.
    func connectAtOnce() throws(AppGroupError) -> Descriptor? {
        do throws(FileError) {
            switch try LocalSocket.connect(to: name.name, in: directory, .stream) {
            case .open(let socket): return socket
            case .gone: throw Self.nobodyError
            case .foreign: throw FileError(.notRegularFile, operation: "connect to", path: path)
            case .busy: return nil
            }
        } catch {
            if error.code == .notFound { throw Self.notListening(name) }
            throw AppGroupError(error, "connect to", ipc: name)
        }
    }

    private static var nobodyError: FileError { FileError(.notFound, operation: "connect to", path: "") }
}

/// A listening socket, with the attributes of its file at the start.
struct ListeningSocket: ~Copyable {
    private let socket: Descriptor
    let identity: FileAttributes

    init(socket: consuming Descriptor, identity: FileAttributes) {
        self.socket = socket
        self.identity = identity
    }

    consuming func takeSocket() -> Descriptor { socket }
}
