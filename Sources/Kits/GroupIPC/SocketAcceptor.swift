internal import AppGroups
internal import Glibc
internal import SharedFiles
internal import Synchronization

/// A listening socket of a container, or one that the service manager passed to this process.
final class SocketAcceptor: Sendable {
    private let name: GroupIPCName
    private let path: String
    private let socket: Descriptor
    /// The name of the socket's file, which this process created and removes; nil for a socket of the service manager,
    /// which is never shut down and never removed: it serves the next process.
    private let own: (place: SocketPlace, identity: FileAttributes)?
    private let isClosed = Atomic(false)

    /// Starts to listen in the container.
    ///
    /// - Throws: `AppGroupError` with `socketInUse`, `file`.
    init(_ place: SocketPlace) throws(AppGroupError) {
        let listening = try place.listen()
        name = place.name
        path = place.path
        own = (place, listening.identity)
        socket = listening.takeSocket()
    }

    /// Uses a listening socket of the service manager.
    init(_ name: GroupIPCName, adopted socket: consuming Descriptor) {
        self.name = name
        path = socket.path
        own = nil
        self.socket = socket
    }

    // Does not wait for the lock: a name that stays is like a dead listener's.
    deinit { close(.zero) }

    /// The socket was passed by the service manager.
    var isAdopted: Bool { own == nil }

    var isEnded: Bool { isClosed.load(ordering: .acquiring) }

    func close() { close(IPCPlace.lockLimit) }

    private func close(_ limit: Duration) {
        guard !isClosed.exchange(true, ordering: .acquiringAndReleasing), let own else { return }
        // Wakes the waiting calls; the descriptor itself stays open as long as this object exists.
        shutdown(socket.rawValue, Int32(SHUT_RDWR))
        own.place.remove(own.identity, limit)
    }

    /// Returns the next connection, which the caller closes; waits if the process or the system has no free descriptor
    /// or memory.
    ///
    /// - Throws: `AppGroupError` with `timeout`; `connectionLost` after `close`; `file` if the system call fails.
    func accept(_ wait: SocketWait) throws(AppGroupError) -> Int32 {
        while true {
            switch try next() {
            case .socket(let socket): return socket
            case .noConnection: try wait.step(Int16(POLLIN), at: socket)
            case .shortage: try wait.pause(Self.patience)
            }
        }
    }

    /// Returns the next connection, for tasks; see the synchronous form.
    ///
    /// - Throws: also `cancelled`.
    func accept(_ wait: SocketWait) async throws(AppGroupError) -> Int32 {
        while true {
            switch try next() {
            case .socket(let socket): return socket
            case .noConnection: try await wait.step(Int16(POLLIN), at: socket.rawValue)
            case .shortage: try await wait.pause(Self.patience)
            }
        }
    }

    /// The pause before the next attempt when the system has no resources for accepting.
    private static let patience = Duration.milliseconds(50)
    private static let shortages = [EMFILE, ENFILE, ENOBUFS, ENOMEM]

    private enum Acceptance {
        /// A descriptor that the caller closes.
        case socket(Int32)
        case noConnection
        case shortage
    }

    /// Accepts the first waiting connection without blocking.
    private func next() throws(AppGroupError) -> Acceptance {
        if isEnded { throw .lost(name, "the listener was closed") }
        switch LocalSocket.accept(socket) {
        case .success(let accepted): return accepted.map(Acceptance.socket) ?? .noConnection
        case .failure(let error):
            if isEnded { throw .lost(name, "the listener was closed") }
            if Self.shortages.contains(error.number) { return .shortage }
            throw AppGroupError(
                FileError(errno: error.number, operation: "accept at", path: path), "accept", ipc: name)
        }
    }
}
