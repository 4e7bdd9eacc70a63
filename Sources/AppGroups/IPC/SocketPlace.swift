internal import Glibc
internal import SharedFiles

/// A container's directory of sockets, found safe.
struct SocketPlace: Sendable {
    let name: GroupIPCName
    let directory: Directory
    let sharing: Sharing

    /// - Throws: `AppGroupError`; with `nobodyListens` where the directory is not there and is not to be made.
    init(_ name: GroupIPCName, in container: GroupContainer, creating: Bool) throws(AppGroupError) {
        self.name = name
        sharing = container.sharing
        do throws(FileError) {
            directory = try IPCPlace.directory(ContainerLayout.sockets, in: container, creating: creating)
        } catch {
            if !creating && error.code == .notFound { throw Self.nobody(name) }
            throw AppGroupError(error, openingContainerOf: container.group)
        }
    }

    static func nobody(_ name: GroupIPCName) -> AppGroupError {
        .ipc(
            .nobodyListens, "connect to", name.description, "nobody listens under that name",
            "Start the program that listens there.")
    }

    /// A listening socket; whatever a dead listener left under the name goes.
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
                .socketInUse, "listen", path, "another process listens there, or it is no socket",
                "See who: ss -xlp; stop it, or choose another name.")
        }
    }

    private func lock() throws(FileError) -> HeldLock {
        try LockFile(directory: directory, name: IPCPlace.lockName, mode: sharing.fileMode)
            .acquire(.whole, .exclusive, timeout: IPCPlace.lockLimit)
    }

    private var path: String { directory.display(name.name) }

    /// Under the lock: whether nothing has the name, or a socket that nobody listens at.
    private func isFree() throws(FileError) -> Bool {
        guard try directory.exists(name.name) else { return true }
        switch try LocalSocket.connect(to: name.name, in: directory, .stream) {
        case .gone: return true
        default: return false
        }
    }

    /// Takes the name away, if it is still that socket's.
    func remove(_ identity: FileAttributes) {
        guard let lock = try? lock() else { return }
        if let facts = try? directory.attributes(name.name), facts.isSameFile(as: identity) {
            try? directory.remove(name.name, durability: .unsynced)
        }
        lock.unlock()
    }

    /// - Throws: `AppGroupError` with `nobodyListens`, `timeout`, `peerRefused`, `cancelled`, `file`.
    func connect(_ limit: Duration, isCancelled: () -> Bool) throws(AppGroupError) -> Descriptor {
        let deadline = SuspendingClock.now + limit
        while true {
            do throws(FileError) {
                switch try LocalSocket.connect(to: name.name, in: directory, .stream) {
                case .open(let socket): return socket
                case .gone: throw Self.nobodyError
                case .foreign: throw FileError(.notRegularFile, operation: "connect to", path: path)
                case .busy: break
                }
            } catch {
                if error.code == .notFound { throw Self.nobody(name) }
                throw AppGroupError(error, "connect to", ipc: name)
            }
            if isCancelled() { throw .waiting(.cancelled, name) }
            let remaining = deadline - SuspendingClock.now
            if remaining <= .zero { throw .waiting(.timeout, name) }
            var request = timespec(tv_sec: 0, tv_nsec: 1_000_000)
            nanosleep(&request, nil)
        }
    }

    private static var nobodyError: FileError { FileError(.notFound, operation: "connect to", path: "") }
}

/// A socket that listens, and what its name stood for when it began.
struct ListeningSocket: ~Copyable {
    let socket: Descriptor
    let identity: FileAttributes
}
