internal import AppGroups
internal import CryptoPrimitives
internal import KeyVault
internal import SealedState
internal import SharedFiles

/// Introductions: the first frame of each end.
extension ChannelConnection {
    /// Sends the frame that proves this program's writer key, if it has one.
    func introduce() {
        let body = ChannelIntroduction.body(settings.store.options.writerKey, role, handshakeHash)
        send(ChannelFrame(kind: .introduction, id: 0, body: body), by: .now + Self.patience)
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
        guard let sealed = try await Self.message(from: messages, wait) else {
            throw settings.unproven("the other end left before it had introduced itself")
        }
        let frame = try opened(sealed)
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
    ///   `containerMissing`, `file`.
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
        let rosterVersion = try await settings.rosterVersion(wait)
        return ChannelConnection(messages, handshake, key.root, rosterVersion, settings, .initiator)
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
    /// - Throws: `AppGroupError` with `timeout`, `cancelled`, `peerUnproven`, `keysUnavailable`, `containerMissing`.
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
        let rosterVersion = try await settings.rosterVersion(wait)
        return ChannelConnection(messages, handshake, key.root, rosterVersion, settings, .responder)
    }

    /// Returns the other end's next message, the last one of a limited size; nil if the other end has left, or sends a
    /// larger one.
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
