internal import Dispatch
internal import SharedFiles
internal import Synchronization

/// A server that accepts messages of other processes to this process's presenters.
final class PresenterServer: Sendable {
    private let domain: CoordinationDomain
    private let listener: Descriptor
    private let queue = DispatchQueue(label: "GroupFileCoordination.presenters")
    private let state = Mutex(State())

    /// The maximum number of connections of one user, so that other users can connect as well.
    private static let maximumConnections = 64
    /// The number of connections after which other work gets its turn.
    private static let acceptedAtOnce = 16

    // Sources are only made, started and cancelled, which Dispatch allows from any thread. The mutex protects the
    // state.
    private struct State: @unchecked Sendable {
        var source: (any DispatchSourceRead)?
        var connections: [ObjectIdentifier: PresenterConnection] = [:]
    }

    init(at name: String, in domain: CoordinationDomain) throws(FileError) {
        self.domain = domain
        listener = try PresenterSocket.listen(at: name, in: domain)
    }

    func start(for post: PresenterPost) {
        let source = DispatchSource.makeReadSource(fileDescriptor: listener.rawValue, queue: queue)
        source.setEventHandler { [weak self, weak post] in
            if let self, let post { self.acceptSome(for: post) }
        }
        // The descriptor must outlive the source: epoll would otherwise watch the next file with its number.
        source.setCancelHandler { [self] in state.withLock { $0.source = nil } }
        state.withLock { $0.source = source }
        source.activate()
    }

    /// Stops accepting connections and closes the open ones, which ends their accesses.
    func stop() {
        let (source, connections) = state.withLock { ($0.source, Array($0.connections.values)) }
        source?.cancel()
        for connection in connections { connection.close() }
    }

    /// Accepts some connections. The source calls again for the rest.
    private func acceptSome(for post: PresenterPost) {
        for _ in 0..<Self.acceptedAtOnce {
            switch PresenterSocket.accept(listener, in: domain) {
            case .noConnection: return
            // The source fires again immediately, and this process would do nothing else. A Dispatch timer is not
            // possible, since it needs a descriptor itself.
            case .exhausted: return pause(.milliseconds(20))
            case .foreign: continue
            case .open(let link): if !isFull(for: link.peer) { start(link, for: post) }
            }
        }
    }

    private func isFull(for peer: PresenterSocket.Peer) -> Bool {
        state.withLock { state in
            state.connections.values.count { $0.peer.user == peer.user } >= Self.maximumConnections
        }
    }

    private func start(_ link: PresenterLink, for post: PresenterPost) {
        let connection = PresenterConnection(link, post)
        let key = ObjectIdentifier(connection)
        state.withLock { $0.connections[key] = connection }
        connection.start(on: queue) { [weak self] in
            self?.state.withLock { $0.connections[key] = nil }
        }
    }
}
