public import AppGroups
internal import CryptoPrimitives
internal import FoundationEssentials
internal import KeyVault
internal import PropertyLists
public import SealedState
internal import Sealing
internal import SharedFiles
internal import Synchronization

/// Questions to another program of the group: a typed request, and its reply.
///
/// ```swift
/// let channel = try store.channel("thumbnails")
/// let picture = try await channel.call(Thumbnail(of: "cat.png"), returning: Picture.self)
/// ```
///
/// Both ends prove that they hold the group's keys, and everything between them is sealed
/// (`Noise_NNpsk0_25519_ChaChaPoly_BLAKE2b`, docs/spec/channels.md). The channel connects at its first call and again
/// when the listener was started again, or when the group's keys were changed. Its calls may be made from any number of
/// tasks at once, and are answered in any order.
public final class SealedChannel: Sendable {
    /// The default size of the largest request or reply in its encoded form: 1 MiB.
    public static let defaultMessageSize = 1 << 20

    private let settings: ChannelSettings
    private let connecting = SocketTurn()
    private let link = Mutex<ChannelLink?>(nil)

    init(_ settings: ChannelSettings) { self.settings = settings }

    deinit { link.withLock { $0 }?.close() }

    /// The channel's name within the group.
    public var name: GroupIPCName { settings.name }

    /// Asks the listener, and returns its reply.
    ///
    /// A cancelled task, and one whose time is over, ends the listener's work on the request as well.
    /// - Parameters:
    ///   - request: The request, encoded as a record is: JSON with dates as RFC 3339 text.
    ///   - timeout: The time limit for connecting, sending and the reply.
    /// - Throws: ``AppGroupError`` with `nobodyListens`; `peerUnproven` if the listener does not hold the group's keys;
    ///   `peerRefused` or `peerUnknown` if one end's rule refuses the other; `peerBusy`, and the request was not
    ///   handled; `requestFailed` with the listener's reason; `malformedMessage`, `messageTooLarge`; `timeout`,
    ///   `cancelled` and `connectionLost`, after which the request may or may not have been handled;
    ///   `keysUnavailable`, `file`.
    public func call<Request: Encodable & Sendable, Reply: Decodable & Sendable>(
        _ request: Request, returning type: Reply.Type = Reply.self, timeout: Duration = .seconds(10)
    ) async throws(AppGroupError) -> Reply {
        let reply = try await call(encoded: try settings.encode(request), timeout: timeout)
        return try settings.decode(type, from: reply)
    }

    /// Asks with JSON, and returns the reply's, which is checked.
    package func call(json request: [UInt8], timeout: Duration) async throws(AppGroupError) -> [UInt8] {
        let reply = try await call(encoded: request, timeout: timeout)
        try settings.check(reply)
        return reply
    }

    private func call(encoded request: [UInt8], timeout: Duration) async throws(AppGroupError) -> [UInt8] {
        guard request.count <= settings.maximumMessageSize else { throw settings.tooLarge(request.count) }
        let wait = SocketWait(timeout, name)
        for _ in 0..<Self.maximumConnections {
            let link = try await link(wait)
            switch await link.ask(request, wait) {
            case .reply(let body): return body
            case .failure(let failure) where failure.code == .rekeyed: drop(link)
            case .failure(let failure): throw settings.error(failure)
            case .notSent: drop(link)
            case .error(let error): throw error
            }
        }
        throw .lost(name, "the listener ends each connection")
    }

    /// The number of connections that one call may need: of listeners that end, or learn of changed keys, meanwhile.
    private static let maximumConnections = 4

    /// Returns the process that listens, connecting to it if necessary.
    ///
    /// - Throws: ``AppGroupError`` as ``call(_:returning:timeout:)``.
    public func peer(timeout: Duration = .seconds(10)) async throws(AppGroupError) -> GroupPeer {
        try await link(SocketWait(timeout, name)).peer
    }

    /// Ends the connection; calls that wait throw `connectionLost`. A later call connects again.
    public func close() { link.withLock { $0.take() }?.close() }

    /// Has the next call connect again. The connection ends with the last call that waits for a reply of it.
    private func drop(_ used: ChannelLink) { link.withLock { if $0 === used { $0 = nil } } }

    private var present: ChannelLink? { link.withLock { $0 }.flatMap { $0.isOver ? nil : $0 } }

    private func link(_ wait: SocketWait) async throws(AppGroupError) -> ChannelLink {
        if let present { return present }
        try await connecting.take(wait)
        defer { connecting.end() }
        if let present { return present }
        let made = try await ChannelLink.connect(settings, wait)
        link.withLock { $0 = made }
        return made
    }
}

extension SealedStore {
    /// Returns a channel to the program of the group that listens under a name. Does not connect.
    ///
    /// - Parameters:
    ///   - name: The listener's name; see ``GroupIPCName``.
    ///   - peers: The rule for the listener, among the processes that hold the group's keys.
    ///   - maximumMessageSize: The largest request and reply in bytes; both ends state the same.
    /// - Throws: ``AppGroupError`` with `invalidIPCName`.
    public func channel(
        _ name: String, peers: PeerRule = .anyMember, maximumMessageSize: Int = SealedChannel.defaultMessageSize
    ) throws(AppGroupError) -> SealedChannel {
        SealedChannel(
            ChannelSettings(
                store: self, name: try GroupIPCName(name, in: group), peers: peers,
                maximumMessageSize: maximumMessageSize))
    }
}

// MARK: Values

extension ChannelSettings {
    func encode(_ value: some Encodable) throws(AppGroupError) -> [UInt8] {
        do {
            var payload = try PayloadCoding.encode(value, as: .json, limits: limits)
            defer { payload.withUnsafeMutableBytes { ScratchMemory.wipe($0) } }
            return Array(payload)
        } catch {
            throw malformed("it cannot be encoded: \(CodingFault.describe(error))")
        }
    }

    func decode<Value: Decodable>(_ type: Value.Type, from body: [UInt8]) throws(AppGroupError) -> Value {
        do {
            return try body.withUnsafeBytes { try PayloadCoding.decode(type, from: $0, codec: .json, limits: limits) }
        } catch {
            throw malformed("it is no \(type): \(CodingFault.describe(error))")
        }
    }

    /// - Throws: `AppGroupError` `malformedMessage` for anything but JSON within the limits.
    func check(_ body: [UInt8]) throws(AppGroupError) {
        let fault: StructureFault?
        do throws(JSONFault) {
            fault = try body.withRawBytes { body throws(JSONFault) in
                try JSONChecker.checkInput(body, against: limits, maximumDepth: store.options.maximumDepth)
            }
        } catch {
            throw malformed("it is not JSON: line \(error.line), column \(error.column): \(error.reason)")
        }
        if let fault { throw malformed("it is beyond the limits on structure: \(fault)") }
    }

    /// The limits of records, with the channel's size.
    private var limits: StructureLimits {
        StructureLimits(
            depth: store.options.maximumDepth, values: store.options.maximumValues, size: maximumMessageSize)
    }

    func malformed(_ reason: String) -> AppGroupError {
        .ipc(
            .malformedMessage, "use a message of", name.description, reason,
            "Both ends must state the same types, and keep within the store's limits on structure.")
    }

    func tooLarge(_ count: Int) -> AppGroupError {
        .ipc(
            .messageTooLarge, "send a message through", name.description,
            "it has \(count) bytes and the limit is \(maximumMessageSize)",
            "Send less at once, share it as a sealed file, or raise maximumMessageSize at both ends.")
    }

    /// The error of a call that the listener did not answer.
    func error(_ failure: ChannelFailure) -> AppGroupError {
        let (code, reason, advice): (AppGroupError.Code, String, String) =
            switch failure.code {
            case .refused:
                (.peerRefused, "the listener refuses this process", "See the rule for peers in the listener's program.")
            case .busy:
                (
                    .peerBusy, "the listener answers as many requests as it takes at a time",
                    "Ask again later; the request was not handled."
                )
            case .failed: (.requestFailed, failure.reason, "See the log of the listener's program.")
            case .malformed: (.malformedMessage, failure.reason, "Both ends must state the same types.")
            case .rekeyed: (.peerUnproven, "the group's keys or roster were changed", "Ask again.")
            case .tooLarge:
                (.messageTooLarge, failure.reason, "Ask for less, or share it as a sealed file.")
            }
        return .ipc(code, "talk through", name.description, reason, advice)
    }
}
