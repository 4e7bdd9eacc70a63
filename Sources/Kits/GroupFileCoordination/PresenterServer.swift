internal import Dispatch
internal import SharedFiles
internal import Synchronization

/// Accepts what other processes have to say to this one's presenters.
final class PresenterServer: Sendable {
    private let domain: CoordinationDomain
    private let listener: Descriptor
    private let queue = DispatchQueue(label: "GroupFileCoordination.presenters")
    private let state = Mutex(State())

    /// More connections of one user than this at once are refused: others must find place as well.
    private static let maximumConnections = 64
    /// Others have their turn after that many.
    private static let acceptedAtOnce = 16

    // Sources are only made, started and cancelled: which Dispatch allows from any thread. The mutex guards who does.
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
        // The descriptor must outlive the source: epoll would otherwise watch whatever gets its number next.
        source.setCancelHandler { [self] in state.withLock { $0.source = nil } }
        state.withLock { $0.source = source }
        source.activate()
    }

    /// Nobody new is heard. Accesses that presenters made way for end as their connections do.
    func stop() {
        let (source, connections) = state.withLock { ($0.source, Array($0.connections.values)) }
        source?.cancel()
        for connection in connections { connection.close() }
    }

    /// Who is left calls again.
    private func acceptSome(for post: PresenterPost) {
        for _ in 0..<Self.acceptedAtOnce {
            switch PresenterSocket.accept(listener, in: domain) {
            case .nobody: return
            // Whoever waits calls again at once, and this process would do nothing else. Not a timer of Dispatch, which itself
            // needs a descriptor.
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
