internal import AppGroups
internal import CryptoPrimitives
internal import Glibc
internal import KeyVault
internal import SealedState
internal import Sealing
internal import SharedFiles
internal import Synchronization

/// The settings of one end of a channel: the store with the group's keys, the name, the rule for the other end, and
/// the largest value.
struct ChannelSettings: Sendable {
    let store: SealedStore
    let name: GroupIPCName
    let peers: PeerRule
    /// In bytes of its encoded form.
    let maximumMessageSize: Int
    private let authority = PresentAuthority()

    init(store: SealedStore, name: GroupIPCName, peers: PeerRule, maximumMessageSize: Int) {
        self.store = store
        self.name = name
        self.peers = peers
        self.maximumMessageSize = maximumMessageSize
    }

    /// The largest message of the socket.
    var largestFrame: Int { ChannelSealing.sealedSize(body: max(maximumMessageSize, 1025)) }

    /// The data that both ends must have in common.
    var prologue: [UInt8] { Array("SealedState channel 1\0\(store.group)\0\(name.name)".utf8) }

    /// Returns the store on the group's present container.
    ///
    /// - Throws: `AppGroupError` `containerMissing`.
    func present() throws(AppGroupError) -> SealedStore {
        do throws(StoreError) { return try store.following() } catch {
            throw .ipc(.containerMissing, "connect to", name.description, error.reason, error.advice)
        }
    }

    /// The version of the roster in force in the group's present container, nil without a roster. A container
    /// that was found is looked for again after a second.
    ///
    /// - Throws: `AppGroupError` `containerMissing`, also for a container that cannot be used: the roster in force is
    ///   then unknown.
    func rosterVersion() throws(AppGroupError) -> UInt64? {
        try authority.current(of: self)?.current().roster?.roster.version
    }

    /// Looks for the version of the roster on a thread that may block.
    func rosterVersion(_ wait: SocketWait) async throws(AppGroupError) -> UInt64? {
        try await IPCThreads.peers.run(wait.remaining, "talk through", name) { [self] (_) throws(AppGroupError) in
            try rosterVersion()
        }
    }

    /// Returns the group's present key. Looks at the vault's files, on a thread that may block.
    ///
    /// - Throws: `AppGroupError` with `keysUnavailable`, `timeout`, `cancelled`.
    func key(_ wait: SocketWait) async throws(AppGroupError) -> ChannelKey {
        let (store, name) = (store, name)
        return try await IPCThreads.peers.run(wait.remaining, "talk through", name) { (_) throws(AppGroupError) in
            do throws(VaultError) { return try store.vault.channelKey() } catch { throw .unusableKeys(error, name) }
        }
    }

    /// - Throws: `AppGroupError` with `keysUnavailable` if the system has no memory for it.
    func handshake(_ role: NoiseRole, _ key: ChannelKey) throws(AppGroupError) -> NoiseHandshake {
        do throws(CryptoError) {
            return NoiseHandshake(role, presharedKey: key.secret, prologue: prologue, ephemeral: try .random())
        } catch {
            throw .ipc(
                .keysUnavailable, "talk through", name.description, "\(error)", "Free memory, and try again.")
        }
    }

    /// Returns the channel's places in the group's present container.
    ///
    /// - Throws: `AppGroupError` `containerMissing`.
    func place() throws(AppGroupError) -> ChannelPlace {
        ChannelPlace(name: name, container: try present().container)
    }

    func unproven(_ reason: String) -> AppGroupError {
        .ipc(
            .peerUnproven, "talk through", name.description, reason,
            "See the processes with ss -xp; both need a vault of the group that they can open.")
    }
}

/// The authority of the group's present container. It has the roster by which peers are judged; the container that was
/// opened may have been moved since.
private final class PresentAuthority: Sendable {
    private struct Look: Sendable {
        let end: SuspendingClock.Instant
        let authority: RosterAuthority?
    }

    private let last = Mutex<Look?>(nil)

    /// May look at the container's files, and does not delay other threads meanwhile. Returns nil without a roster. A
    /// failure is not remembered.
    ///
    /// - Throws: `AppGroupError` `containerMissing`.
    func current(of settings: ChannelSettings) throws(AppGroupError) -> RosterAuthority? {
        let now = SuspendingClock.now
        if let last = last.withLock({ $0 }), now < last.end { return last.authority }
        let look = Look(end: now + .seconds(1), authority: try settings.present().authority)
        // A look that began later knows more.
        last.withLock { last in if last.map({ $0.end < look.end }) ?? true { last = look } }
        return look.authority
    }
}

/// One end of a channel's connection after its handshake: sealed frames, both ways.
///
/// A frame is sealed and sent by the thread that has it, and opened by the thread of `SocketPoll` that received it. Only
/// for a full socket a frame waits in the outbox.
final class ChannelConnection: Sendable {
    /// The root of the key that both ends proved to hold.
    let root: Bytes32
    /// The version of the roster by which the other end was judged.
    let rosterVersion: UInt64?
    /// The hash of the handshake, which no other connection has.
    let handshakeHash: [UInt8]
    let role: NoiseRole
    let settings: ChannelSettings

    let messages: MessageSocket
    private let outbox: Mutex<Outbox>
    private let opening: Mutex<NoiseCipher>

    /// The time limit for sending a frame that nothing waits for.
    static let patience = Duration.seconds(10)

    /// - Parameters:
    ///   - handshake: After both of its messages.
    ///   - rosterVersion: Looked for before the other end is judged.
    init(
        _ messages: MessageSocket, _ handshake: consuming NoiseHandshake, _ root: Bytes32, _ rosterVersion: UInt64?,
        _ settings: ChannelSettings, _ role: NoiseRole
    ) {
        self.root = root
        self.rosterVersion = rosterVersion
        handshakeHash = handshake.hash
        self.role = role
        self.settings = settings
        self.messages = messages
        let transport = handshake.transport()
        outbox = Mutex(Outbox(cipher: transport.sending))
        opening = Mutex(transport.receiving)
    }

    /// Returns whether the group's key and roster are those of the handshake. May look at files.
    ///
    /// - Throws: `AppGroupError` with `keysUnavailable`, `containerMissing` if that cannot be determined.
    func hasPresentKeys() throws(AppGroupError) -> Bool {
        let present: Bytes32
        do throws(VaultError) { present = try settings.store.vault.channelRoot() } catch {
            throw .unusableKeys(error, settings.name)
        }
        let version = try settings.rosterVersion()
        return present == root && rosterVersion == version
    }

    /// Ends the connection, with the error of the calls that wait for it.
    func close(_ error: AppGroupError? = nil) { finish(error ?? .lost(settings.name, "it was closed")) }

    /// Ends the connection with the error of the calls that wait for it.
    private func finish(_ error: AppGroupError) {
        messages.close()
        let (unsent, ended) = outbox.withLock { outbox in
            defer { (outbox.isOver, outbox.line, outbox.ended) = (true, [], nil) }
            return (outbox.line, outbox.ended)
        }
        for frame in unsent { frame.done(false) }
        ended?(error)
    }

    // MARK: Sending

    /// A frame that is to be sent.
    private struct Outgoing: Sendable {
        let frame: ChannelFrame
        let deadline: SuspendingClock.Instant
        let done: @Sendable (Bool) -> Void
    }

    /// The frames that wait for room in the socket. They are sealed one after the other, when the one before was sent.
    private struct Outbox: ~Copyable {
        var cipher: NoiseCipher
        var line: [Outgoing] = []
        /// The sealed bytes of the first frame that the system has not accepted yet; empty if it is not sealed.
        var rest: ArraySlice<UInt8> = []
        /// A thread goes on when the socket has room.
        var isBlocked = false
        var isOver = false
        /// Called once, with the reason, when the connection ends.
        var ended: (@Sendable (AppGroupError) -> Void)?

        init(cipher: consuming NoiseCipher) { self.cipher = cipher }
    }

    private enum Progress: Sendable {
        /// All was sent, or is sent when the socket has room, or the connection has ended.
        case goesOn
        /// The socket is full; the connection ends if it does not accept the first frame by the time.
        case blocked(SuspendingClock.Instant)
        case failed(AppGroupError)
    }

    /// Sends a frame, or has it sent as soon as the frames before it were sent. Does not wait.
    ///
    /// - Parameters:
    ///   - deadline: The connection ends if the frame has not been sent by then.
    ///   - done: Called once, on any thread: with true when the system has the whole frame, with false if the connection
    ///     ended, or the frame was withdrawn, before.
    func send(
        _ frame: ChannelFrame, by deadline: SuspendingClock.Instant, done: @escaping @Sendable (Bool) -> Void = { _ in }
    ) {
        let outgoing = Outgoing(frame: frame, deadline: deadline, done: done)
        let step = outbox.withLock { outbox -> ([Outgoing], Progress)? in
            if outbox.isOver { return nil }
            outbox.line.append(outgoing)
            return outbox.isBlocked ? ([], .goesOn) : write(&outbox)
        }
        guard let (sent, progress) = step else { return done(false) }
        go(on: progress, sent)
    }

    /// Seals and sends what the system accepts now.
    private func write(_ outbox: inout Outbox) -> ([Outgoing], Progress) {
        var sent: [Outgoing] = []
        do throws(AppGroupError) {
            while let first = outbox.line.first {
                if outbox.rest.isEmpty { outbox.rest = try sealed(first.frame, &outbox.cipher)[...] }
                guard try messages.sendSome(of: &outbox.rest) else {
                    outbox.isBlocked = true
                    return (sent, .blocked(first.deadline))
                }
                sent.append(outbox.line.removeFirst())
            }
            return (sent, .goesOn)
        } catch {
            // No other thread goes on with a frame of which a part was sent.
            outbox.isOver = true
            return (sent, .failed(error))
        }
    }

    private func sealed(_ frame: ChannelFrame, _ cipher: inout NoiseCipher) throws(AppGroupError) -> [UInt8] {
        let sealed: [UInt8]
        do throws(CryptoError) { sealed = try ChannelSealing.seal(frame, &cipher) } catch {
            throw .lost(settings.name, "\(error)")
        }
        return try messages.frame(of: sealed)
    }

    private func go(on progress: Progress, _ sent: [Outgoing]) {
        for frame in sent { frame.done(true) }
        switch progress {
        case .goesOn: break
        case .failed(let error): finish(error)
        case .blocked(let deadline):
            messages.whenReady(Int16(POLLOUT), until: deadline) { [self] outcome in
                guard outcome == .ready else {
                    return finish(.lost(settings.name, "the other end did not receive in time"))
                }
                let (sent, progress) = outbox.withLock { outbox -> ([Outgoing], Progress) in
                    outbox.isBlocked = false
                    return outbox.isOver ? ([], .goesOn) : write(&outbox)
                }
                go(on: progress, sent)
            }
        }
    }

    /// Removes a request of which nothing was sent; otherwise has the listener end its work on it.
    func withdraw(_ id: UInt64) {
        let unsent = outbox.withLock { outbox -> Outgoing? in
            let index = outbox.line.firstIndex { $0.frame.id == id && $0.frame.kind == .request }
            guard let index, index > 0 || outbox.rest.isEmpty else { return nil }
            return outbox.line.remove(at: index)
        }
        if let unsent { return unsent.done(false) }
        send(ChannelFrame(kind: .cancel, id: id), by: .now + Self.patience)
    }

    // MARK: Receiving

    /// The next step after a frame.
    enum Demand: Sendable {
        case next
        /// No frame is received until `receive` is called again.
        case pause
        /// The other end does not keep to the protocol.
        case end
    }

    /// Receives all frames after the introductions.
    ///
    /// - Parameters:
    ///   - accept: Called with each frame, in order, on a thread that must not be blocked.
    ///   - ended: Called once, with the reason, when the connection ends.
    func follow(
        _ accept: @escaping @Sendable (ChannelFrame) -> Demand,
        ended: @escaping @Sendable (AppGroupError) -> Void
    ) {
        let isOver = outbox.withLock { outbox in
            if !outbox.isOver { outbox.ended = ended }
            return outbox.isOver
        }
        if isOver { ended(.lost(settings.name, "it was closed")) } else { receive(accept) }
    }

    /// Passes on the frames that have arrived, then waits for others. Reads the socket once, so that no peer occupies
    /// the thread.
    func receive(_ accept: @escaping @Sendable (ChannelFrame) -> Demand) {
        var reads = 1
        do throws(AppGroupError) {
            while true {
                switch try messages.arrival(&reads) {
                case .finished: throw .lost(settings.name, "the other end has left")
                case .nothingYet: return messages.whenReady(Int16(POLLIN)) { [self] _ in receive(accept) }
                case .message(let sealed):
                    switch accept(try opened(sealed)) {
                    case .next: continue
                    case .pause: return
                    case .end: throw settings.unproven("the other end does not keep to the protocol")
                    }
                }
            }
        } catch {
            finish(error)
        }
    }

    /// - Throws: `AppGroupError` `peerUnproven` for bytes that the other end did not seal.
    func opened(_ sealed: [UInt8]) throws(AppGroupError) -> ChannelFrame {
        let opened: Result<ChannelFrame, CryptoError> = opening.withLock { cipher in
            do throws(CryptoError) { return .success(try ChannelSealing.open(sealed, &cipher)) } catch {
                return .failure(error)
            }
        }
        do throws(CryptoError) { return try opened.get() } catch {
            throw settings.unproven("bytes arrived that the other end did not seal")
        }
    }
}
