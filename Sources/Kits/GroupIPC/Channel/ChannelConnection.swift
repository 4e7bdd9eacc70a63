internal import AppGroups
internal import CryptoPrimitives
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

    /// The version of the roster in force; nil without one.
    var rosterVersion: UInt64? { store.authority?.current().roster?.roster.version }

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

/// One end of a channel's connection after its handshake: sealed frames, both ways.
final class ChannelConnection: Sendable {
    /// The root of the key that both ends proved to hold.
    let root: Bytes32
    /// The version of the roster by which the other end was judged.
    let rosterVersion: UInt64?
    /// The hash of the handshake, which no other connection has.
    let handshakeHash: [UInt8]
    let role: NoiseRole
    let settings: ChannelSettings

    private let messages: MessageSocket
    private let sealing: Mutex<NoiseCipher>
    private let opening: Mutex<NoiseCipher>
    private let turn = SocketTurn()

    /// The time limit for sending a frame that nothing waits for.
    static let patience = Duration.seconds(10)

    /// - Parameter handshake: After both of its messages.
    private init(
        _ messages: MessageSocket, _ handshake: consuming NoiseHandshake, _ root: Bytes32,
        _ settings: ChannelSettings, _ role: NoiseRole
    ) {
        self.root = root
        rosterVersion = settings.rosterVersion
        handshakeHash = handshake.hash
        self.role = role
        self.settings = settings
        self.messages = messages
        let transport = handshake.transport()
        sealing = Mutex(transport.sending)
        opening = Mutex(transport.receiving)
    }

    func close() { messages.close() }

    // MARK: Frames

    /// Sends a frame. A frame of which a part was sent ends the connection: the other end could open no other.
    ///
    /// - Throws: `AppGroupError` with `timeout`, `cancelled`, and nothing was sent unless the connection is closed;
    ///   `messageTooLarge`, `connectionLost`.
    func send(_ frame: ChannelFrame, _ wait: SocketWait) async throws(AppGroupError) {
        try await turn.take(wait)
        defer { turn.end() }
        let sealed = try seal(frame)
        do throws(AppGroupError) { try await messages.send(sealed, wait) } catch {
            // Nothing of it has left this process, so the next frame may have its place.
            if !messages.isClosed { sealing.withLock { $0.forgetLast(count(of: sealed)) } }
            throw error
        }
    }

    /// The number of messages of Noise in a sealed frame.
    private func count(of sealed: [UInt8]) -> UInt64 { UInt64((sealed.count + 65_534) / 65_535) }

    private func seal(_ frame: ChannelFrame) throws(AppGroupError) -> [UInt8] {
        let sealed: Result<[UInt8], CryptoError> = sealing.withLock { cipher in
            do throws(CryptoError) { return .success(try ChannelSealing.seal(frame, &cipher)) } catch {
                return .failure(error)
            }
        }
        do throws(CryptoError) { return try sealed.get() } catch { throw .lost(settings.name, "\(error)") }
    }

    /// Receives the next frame; returns nil when the other end has left.
    ///
    /// - Throws: `AppGroupError` with `timeout`, `cancelled`, `messageTooLarge`; `peerUnproven` for bytes that the other
    ///   end did not seal, which ends the connection.
    func receive(_ wait: SocketWait) async throws(AppGroupError) -> ChannelFrame? {
        let received: [UInt8]?
        do throws(AppGroupError) { received = try await messages.receive(wait) } catch {
            guard error.code == .connectionLost else { throw error }
            return nil
        }
        guard let received else { return nil }
        let opened: Result<ChannelFrame, CryptoError> = opening.withLock { cipher in
            do throws(CryptoError) { return .success(try ChannelSealing.open(received, &cipher)) } catch {
                return .failure(error)
            }
        }
        do throws(CryptoError) { return try opened.get() } catch {
            messages.close()
            throw settings.unproven("bytes arrived that the other end did not seal")
        }
    }

    // MARK: Introductions

    /// Sends the frame that proves this program's writer key, if it has one.
    func introduce(_ wait: SocketWait) async throws(AppGroupError) {
        let body = ChannelIntroduction.body(settings.store.options.writerKey, role, handshakeHash)
        try await send(ChannelFrame(kind: .introduction, id: 0, body: body), wait)
    }

    /// Receives the other end's introduction and applies the rule to it.
    ///
    /// - Throws: `AppGroupError` with `peerUnproven`, `peerRefused`, `peerUnknown`.
    func meet(_ wait: SocketWait) async throws(AppGroupError) -> GroupPeer {
        guard let sender = messages.sender else {
            throw settings.unproven("the system does not state the process at the other end")
        }
        // A socket of the service manager was opened by another process than the one that answers.
        guard role == .initiator || messages.connected?.user == sender.user else {
            throw settings.unproven("it was connected by another user than the one that talks")
        }
        guard let frame = try await receive(wait) else {
            throw settings.unproven("the other end left before it had introduced itself")
        }
        if let failure = frame.failure { throw settings.error(failure) }
        guard frame.kind == .introduction else { throw settings.unproven("the other end did not introduce itself") }
        let (settings, hash) = (settings, handshakeHash)
        let other: NoiseRole = role == .initiator ? .responder : .initiator
        // A rule may read files.
        return try await IPCThreads.peers.run(wait.remaining, "identify the peer of", settings.name) {
            (_) throws(AppGroupError) in
            var peer = GroupPeer(sender: sender)
            let authority = try settings.present().authority
            do throws(CryptoError) {
                peer.writer = try ChannelIntroduction.writer(frame.body, other, hash, by: authority)
            } catch {
                throw settings.unproven("the other end names a writer whose key it does not have")
            }
            do throws(PeerRefusal) { try peer.require(settings.peers) } catch {
                throw .ipc(
                    error.code, "talk through", settings.name.description, "the other process \(error.words)",
                    "See the process: ss -xp")
            }
            return peer
        }
    }
}

// MARK: Handshakes

extension ChannelConnection {
    /// The only contents of the handshake's messages: the version of the protocol.
    private static let version: [UInt8] = [1]

    /// Connects to a channel's listener.
    ///
    /// - Throws: `AppGroupError` with `nobodyListens`, `timeout`, `cancelled`, `peerUnproven`, `keysUnavailable`,
    ///   `file`.
    static func connect(
        _ settings: ChannelSettings, _ key: ChannelKey, _ wait: SocketWait
    ) async throws(AppGroupError) -> ChannelConnection {
        let messages = try await socket(settings, wait)
        var handshake = try settings.handshake(.initiator, key)
        let first = try settings.proving { () throws(CryptoError) in try handshake.write(version) }
        do throws(AppGroupError) { try await messages.send(first, wait) } catch {
            throw error.code == .connectionLost ? settings.unproven(refusal) : error
        }
        guard let second = try await message(from: messages, wait) else { throw settings.unproven(refusal) }
        let answer = try settings.proving { () throws(CryptoError) in try handshake.read(second) }
        guard answer == version else { throw settings.unproven("the other end uses another version of the protocol") }
        return ChannelConnection(messages, handshake, key.root, settings, .initiator)
    }

    private static let refusal = "the listener ended the connection without an answer: it does not hold the same keys"

    private static func socket(
        _ settings: ChannelSettings, _ wait: SocketWait
    ) async throws(AppGroupError) -> MessageSocket {
        while true {
            let messages = try await IPCThreads.peers.run(wait.remaining, "connect to", settings.name) {
                (_) throws(AppGroupError) -> MessageSocket? in
                guard let socket = try settings.place().connectAtOnce() else { return nil }
                return settings.messages(socket)
            }
            if let messages { return messages }
            try await wait.pause(.milliseconds(5))
        }
    }

    /// Answers the first message of a connection.
    ///
    /// - Throws: `AppGroupError` with `timeout`, `cancelled`, `peerUnproven`, `keysUnavailable`.
    static func answer(
        _ socket: consuming Descriptor, _ settings: ChannelSettings, _ wait: SocketWait
    ) async throws(AppGroupError) -> ChannelConnection {
        let messages = settings.messages(socket)
        guard let first = try await message(from: messages, wait) else {
            throw settings.unproven("the other end left before the handshake")
        }
        let key = try await settings.key(wait)
        var handshake = try settings.handshake(.responder, key)
        let version = try settings.proving { () throws(CryptoError) in try handshake.read(first) }
        guard version == Self.version else {
            throw settings.unproven("the other end uses another version of the protocol")
        }
        let second = try settings.proving { () throws(CryptoError) in try handshake.write(Self.version) }
        try await messages.send(second, wait)
        return ChannelConnection(messages, handshake, key.root, settings, .responder)
    }

    /// Returns the other end's message of the handshake; nil if the other end has left, or sends more than that.
    private static func message(
        from messages: MessageSocket, _ wait: SocketWait
    ) async throws(AppGroupError) -> [UInt8]? {
        do throws(AppGroupError) {
            defer { messages.acceptFullMessages() }
            return try await messages.receive(wait)
        } catch {
            if error.code == .connectionLost || error.code == .messageTooLarge { return nil }
            throw error
        }
    }
}

extension AppGroupError {
    static func unusableKeys(_ error: VaultError, _ name: GroupIPCName) -> Self {
        .ipc(.keysUnavailable, "talk through", name.description, error.reason, error.advice)
    }
}

extension ChannelSettings {
    /// Returns the messages of a connection; the first one is a handshake's.
    fileprivate func messages(_ socket: consuming Descriptor) -> MessageSocket {
        MessageSocket(socket, name, largestFrame, firstMessageSize: NoiseHandshake.overhead + 1)
    }

    /// Makes a step of a handshake.
    ///
    /// - Throws: `AppGroupError` with `peerUnproven`.
    fileprivate func proving<Result>(_ step: () throws(CryptoError) -> Result) throws(AppGroupError) -> Result {
        do throws(CryptoError) { return try step() } catch {
            throw unproven("the other end did not prove that it holds the group's keys")
        }
    }
}
