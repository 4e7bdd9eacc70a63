public import AppGroups
internal import CryptoPrimitives
internal import Glibc
public import SealedState
internal import SharedFiles
internal import Synchronization

/// Answers the requests of other programs of the group.
///
/// ```swift
/// let listener = try store.channelListener("thumbnails")
/// try await listener.serve { (request: Thumbnail, peer) in try picture(of: request) }
/// ```
///
/// It listens in the group's container, or at the socket that systemd passed to the process for it
/// (docs/guides/channels.md): `sealedstate/<group>/<name>` below the runtime directory.
public final class SealedChannelListener: Sendable {
    /// The numbers that bound the work that peers cause.
    public struct Limits: Sendable, Hashable {
        /// The connections at a time; others wait in the system's queue. 256 unless stated.
        public var connections = 256
        /// The requests of one connection that are answered at a time; more are refused as busy. 16 unless stated.
        public var requests = 16
        /// The largest request and reply in bytes; both ends state the same. 1 MiB unless stated.
        public var messageSize = SealedChannel.defaultMessageSize

        /// The defaults.
        public init() {}
    }

    /// The channel's name within the group.
    public var name: GroupIPCName { settings.name }
    /// The service manager passed the socket to this process. It is then never shut down and never removed.
    public var isActivated: Bool { acceptor.isAdopted }

    private let settings: ChannelSettings
    private let limits: Limits
    private let acceptor: SocketAcceptor
    private let refusals = Atomic(0)
    private let connections: SocketTurn
    /// The places of connections whose other end has not proved anything yet.
    private let unproven = SocketTurn(places: 64)
    private let unusableKeys = Mutex<AppGroupError?>(nil)
    private let serving = Mutex<[Task<AppGroupError?, Never>]>([])

    init(_ settings: ChannelSettings, _ limits: Limits, _ acceptor: SocketAcceptor) {
        self.settings = settings
        self.limits = limits
        self.acceptor = acceptor
        connections = SocketTurn(places: max(1, limits.connections))
    }

    /// The number of connections that were refused since the start: those of processes that did not prove that they
    /// hold the group's keys, and those that the rule for peers refuses.
    public var refusedConnections: Int { refusals.load(ordering: .relaxed) }

    /// The reason why the last connection could not be answered, if the group's keys could not be used: the vault's.
    /// Nil after a connection was answered.
    public var keysFailure: AppGroupError? { unusableKeys.withLock { $0 } }

    /// Answers requests until the task is cancelled or the listener is closed.
    ///
    /// A peer that leaves, or withdraws a request, cancels the tasks that answer it. After the end of this call no
    /// answer is in progress.
    /// - Parameter answer: Called in a task of its own for each request, with the process that sent it. It may block its
    ///   thread: at most 63 answers of a process do so at a time, and others wait. That thread blocks all signals but
    ///   those of faults: a program that the answer starts inherits the mask, so the answer has it reset
    ///   (posix_spawnattr_setsigmask(3)). An error that it throws is the peer's `requestFailed`, with its description of
    ///   at most 1,024 bytes as the reason.
    /// - Throws: ``AppGroupError`` with `file` if the system call for accepting fails.
    public func serve<Request: Decodable & Sendable, Reply: Encodable & Sendable>(
        _ answer: @escaping @Sendable (_ request: Request, _ peer: GroupPeer) async throws -> Reply
    ) async throws(AppGroupError) {
        let settings = settings
        try await serveRequests { (encoded, peer) throws(ChannelFailure) in
            let request: Request
            do throws(AppGroupError) { request = try settings.decode(Request.self, from: encoded) } catch {
                throw ChannelFailure(code: .malformed, reason: "the request is not usable: \(error.reason)")
            }
            let reply: Reply
            do { reply = try await answer(request, peer) } catch {
                throw ChannelFailure(code: .failed, reason: "\(error)")
            }
            do throws(AppGroupError) { return try settings.encode(reply) } catch {
                throw ChannelFailure(code: .failed, reason: "the reply is not usable: \(error.reason)")
            }
        }
    }

    /// Answers requests in JSON, which is checked, as the answers are.
    package func serveJSON(
        _ answer: @escaping @Sendable (_ request: [UInt8], _ peer: GroupPeer) async throws -> [UInt8]
    ) async throws(AppGroupError) {
        let settings = settings
        try await serveRequests { (encoded, peer) throws(ChannelFailure) in
            do throws(AppGroupError) { try settings.check(encoded) } catch {
                throw ChannelFailure(code: .malformed, reason: "the request is not usable: \(error.reason)")
            }
            do {
                let reply = try await answer(encoded, peer)
                // A larger one is refused as that.
                if reply.count <= settings.maximumMessageSize { try settings.check(reply) }
                return reply
            } catch {
                throw ChannelFailure(code: .failed, reason: (error as? AppGroupError)?.reason ?? "\(error)")
            }
        }
    }

    /// Ends ``serve(_:)``, and the answers in progress. A socket that this listener created is removed.
    public func close() {
        acceptor.close()
        for task in serving.withLock({ $0 }) { task.cancel() }
    }

    private func serveRequests(_ answer: @escaping ChannelAnswer) async throws(AppGroupError) {
        let task = Task { await self.run(answer) }
        serving.withLock { $0.append(task) }
        if acceptor.isEnded { task.cancel() }
        let failure = await withTaskCancellationHandler {
            await task.value
        } onCancel: {
            task.cancel()
        }
        serving.withLock { $0.removeAll { $0 == task } }
        if let failure { throw failure }
    }

    /// Returns the reason why no connection can be accepted any more; nil at an intended end.
    private func run(_ answer: @escaping ChannelAnswer) async -> AppGroupError? {
        await withDiscardingTaskGroup { group in
            defer { group.cancelAll() }
            do throws(AppGroupError) {
                while true {
                    let socket = try await accepted()
                    group.addTask {
                        defer { self.connections.end() }
                        await self.attend(socket, answer)
                    }
                }
            } catch {
                return error.code == .cancelled || acceptor.isEnded ? nil : error
            }
        }
    }

    /// Returns the next connection when there is room for it, which the caller frees.
    private func accepted() async throws(AppGroupError) -> Int32 {
        let wait = SocketWait(nil, name)
        try await connections.take(wait)
        do throws(AppGroupError) {
            try await unproven.take(wait)
            do throws(AppGroupError) { return try await acceptor.accept(wait) } catch {
                unproven.end()
                throw error
            }
        } catch {
            connections.end()
            throw error
        }
    }

    /// The time that a peer has to prove that it holds the group's keys.
    private static let handshakeLimit = Duration.seconds(5)

    /// Serves one connection until it ends.
    ///
    /// - Parameter socket: A descriptor, which is closed at the end.
    private func attend(_ socket: Int32, _ answer: @escaping ChannelAnswer) async {
        do throws(AppGroupError) {
            let (connection, peer) = try await met(Descriptor(owning: socket, path: name.description))
            unusableKeys.withLock { $0 = nil }
            await ChannelAnswers(connection, peer, limit: limits.requests, answer).run()
        } catch {
            switch error.code {
            case .peerUnproven, .peerRefused, .peerUnknown: refusals.add(1, ordering: .relaxed)
            // A member can damage the vault for a moment: that must not end the listener.
            case .keysUnavailable: unusableKeys.withLock { $0 = error }
            default: break
            }
        }
    }

    private func met(
        _ socket: consuming Descriptor
    ) async throws(AppGroupError) -> (ChannelConnection, GroupPeer) {
        defer { unproven.end() }
        let wait = SocketWait(Self.handshakeLimit, name)
        let connection = try await ChannelConnection.answer(socket, settings, wait)
        let peer: GroupPeer
        do throws(AppGroupError) { peer = try await connection.meet(wait) } catch {
            if error.code == .peerRefused || error.code == .peerUnknown {
                connection.send(.failure(ChannelFailure(code: .refused), of: 0), by: .now)
            }
            throw error
        }
        connection.introduce()
        return (connection, peer)
    }
}

extension SealedStore {
    /// Listens for the requests of other programs of the group: at the socket that systemd passed to this process for
    /// the name, else in the group's container.
    ///
    /// - Parameters:
    ///   - name: The name within the group; see ``GroupIPCName``.
    ///   - peers: The rule for peers, among the processes that hold the group's keys.
    /// - Throws: ``AppGroupError`` with `invalidIPCName`; `socketInUse` if another process listens under that name, or
    ///   another kind of file has it; `containerMissing`; `file`.
    public func channelListener(
        _ name: String, peers: PeerRule = .anyMember,
        limits: SealedChannelListener.Limits = SealedChannelListener.Limits()
    ) throws(AppGroupError) -> SealedChannelListener {
        let settings = ChannelSettings(
            store: self, name: try GroupIPCName(name, in: group), peers: peers, maximumMessageSize: limits.messageSize)
        let place = try settings.place()
        if let adopted = try place.adoptedSocket() {
            return SealedChannelListener(settings, limits, SocketAcceptor(settings.name, adopted: adopted))
        }
        let own = try SocketPlace(settings.name, in: place.container, creating: true)
        return SealedChannelListener(settings, limits, try SocketAcceptor(own))
    }
}
