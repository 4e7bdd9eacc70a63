internal import AppGroups
internal import KeyVault
internal import SealedState
internal import Synchronization

/// A client's connection, with the calls that wait for a reply.
final class ChannelLink: Sendable {
    /// The end of a call.
    enum Outcome: Sendable {
        case reply([UInt8])
        case failure(ChannelFailure)
        /// The connection was lost before the whole request was sent.
        case notSent
        case error(AppGroupError)
    }

    let peer: GroupPeer
    private let connection: ChannelConnection
    private let calls: ChannelCalls

    private init(_ connection: ChannelConnection, _ peer: GroupPeer) {
        self.peer = peer
        self.connection = connection
        calls = ChannelCalls(connection.settings)
        Task { [connection, calls] in await Self.receive(connection, calls) }
    }

    deinit { close() }

    /// Connects; once more if the group's keys were changed meanwhile.
    static func connect(_ settings: ChannelSettings, _ wait: SocketWait) async throws(AppGroupError) -> ChannelLink {
        let key = try await settings.key(wait)
        do throws(AppGroupError) { return try await connect(settings, key, wait) } catch {
            guard error.code == .peerUnproven else { throw error }
            let present = try await settings.key(wait)
            guard present.root != key.root else { throw error }
            return try await connect(settings, present, wait)
        }
    }

    private static func connect(
        _ settings: ChannelSettings, _ key: ChannelKey, _ wait: SocketWait
    ) async throws(AppGroupError) -> ChannelLink {
        let connection = try await ChannelConnection.connect(settings, key, wait)
        do throws(AppGroupError) {
            try await connection.introduce(wait)
            return ChannelLink(connection, try await connection.meet(wait))
        } catch {
            connection.close()
            throw error
        }
    }

    /// A new request needs another connection: no reply will arrive any more, or the keys or the roster were changed.
    var isOver: Bool {
        guard calls.end == nil, let present = try? connection.settings.store.vault.channelRoot() else { return true }
        return present != connection.root || connection.rosterVersion != connection.settings.rosterVersion
    }

    func close() { connection.close() }

    /// Sends a request and waits for the end of the call.
    func ask(_ request: [UInt8], _ wait: SocketWait) async -> Outcome {
        guard let id = calls.begin(wait) else { return .notSent }
        do throws(AppGroupError) {
            try await connection.send(ChannelFrame(kind: .request, id: id, body: request), wait)
        } catch {
            calls.forget(id)
            return error.code == .connectionLost ? .notSent : .error(error)
        }
        let outcome = await withTaskCancellationHandler {
            await calls.outcome(of: id)
        } onCancel: {
            calls.settle(id, .error(.waiting(.cancelled, connection.settings.name)))
        }
        if case .error(let error) = outcome, error.code == .cancelled || error.code == .timeout { withdraw(id) }
        return outcome
    }

    /// Ends the listener's work on a request.
    private func withdraw(_ id: UInt64) {
        let connection = connection
        Task {
            let wait = SocketWait(ChannelConnection.patience, connection.settings.name)
            try? await connection.send(ChannelFrame(kind: .cancel, id: id), wait)
        }
    }

    private static func receive(_ connection: ChannelConnection, _ calls: ChannelCalls) async {
        let wait = SocketWait(nil, connection.settings.name)
        do throws(AppGroupError) {
            while let frame = try await connection.receive(wait) {
                if frame.kind == .reply {
                    calls.settle(frame.id, .reply(frame.body))
                } else if let failure = frame.failure {
                    calls.settle(frame.id, .failure(failure))
                } else {
                    connection.close()
                    throw connection.settings.unproven("the listener does not keep to the protocol")
                }
            }
            calls.finish(.lost(connection.settings.name, "the listener has left"))
        } catch {
            calls.finish(error)
        }
    }
}

/// The calls of one connection that wait for a reply.
private final class ChannelCalls: Sendable {
    private enum Call {
        /// Nothing has arrived, and no task waits yet.
        case begun
        case waiting(CheckedContinuation<ChannelLink.Outcome, Never>)
        case ended(ChannelLink.Outcome)
    }

    private struct State {
        var last: UInt64 = 0
        var calls: [UInt64: (call: Call, deadline: SuspendingClock.Instant?)] = [:]
        var end: AppGroupError?
        /// The time at which the timer looks for calls whose time is over.
        var alarm: SuspendingClock.Instant?

        mutating func settle(
            _ id: UInt64, _ outcome: ChannelLink.Outcome
        ) -> CheckedContinuation<ChannelLink.Outcome, Never>? {
            guard let found = calls[id] else { return nil }
            switch found.call {
            case .begun: calls[id] = (.ended(outcome), nil)
            case .ended: break
            case .waiting(let continuation):
                calls[id] = nil
                return continuation
            }
            return nil
        }
    }

    private let settings: ChannelSettings
    private let state = Mutex(State())

    init(_ settings: ChannelSettings) { self.settings = settings }

    /// The reason why no reply will arrive; nil while one may.
    var end: AppGroupError? { state.withLock { $0.end } }

    /// Returns the number of a new call; nil if the connection has ended.
    func begin(_ wait: SocketWait) -> UInt64? {
        let (id, alarm) = state.withLock { state -> (UInt64?, SuspendingClock.Instant?) in
            guard state.end == nil else { return (nil, nil) }
            state.last += 1
            state.calls[state.last] = (.begun, wait.deadline)
            guard let deadline = wait.deadline, state.alarm.map({ deadline < $0 }) ?? true else {
                return (state.last, nil)
            }
            state.alarm = deadline
            return (state.last, deadline)
        }
        if let alarm { Task { [weak self] in await Self.ring(at: alarm) { [weak self] in self } } }
        return id
    }

    /// Waits for the end of a call.
    func outcome(of id: UInt64) async -> ChannelLink.Outcome {
        await withCheckedContinuation { continuation in
            let outcome = state.withLock { state -> ChannelLink.Outcome? in
                guard let found = state.calls[id] else {
                    return .error(state.end ?? .waiting(.cancelled, settings.name))
                }
                if case .ended(let outcome) = found.call {
                    state.calls[id] = nil
                    return outcome
                }
                state.calls[id] = (.waiting(continuation), found.deadline)
                return nil
            }
            if let outcome { continuation.resume(returning: outcome) }
        }
    }

    /// Ends a call; a call that has ended stays as it is.
    func settle(_ id: UInt64, _ outcome: ChannelLink.Outcome) {
        let waiting = state.withLock { $0.settle(id, outcome) }
        waiting?.resume(returning: outcome)
    }

    /// Removes a call that was not made.
    func forget(_ id: UInt64) { state.withLock { $0.calls[id] = nil } }

    /// Ends all calls, and those to come.
    func finish(_ error: AppGroupError) {
        let waiting = state.withLock { state in
            state.end = state.end ?? error
            return Array(state.calls.keys).compactMap { state.settle($0, .error(error)) }
        }
        for continuation in waiting { continuation.resume(returning: .error(error)) }
    }

    /// Ends the calls whose time is over, at a time and then at the next deadlines, until a call has none or an earlier
    /// alarm was set.
    ///
    /// - Parameter calls: Returns the calls; nil when nothing else uses them.
    private static func ring(
        at first: SuspendingClock.Instant, _ calls: @Sendable () -> ChannelCalls?
    ) async {
        var alarm: SuspendingClock.Instant? = first
        while let time = alarm {
            _ = await SocketPoll.shared.wait(for: 0, at: -1, until: time)
            alarm = calls()?.settleLate(at: time)
        }
    }

    /// Ends the calls whose time is over.
    ///
    /// - Returns: The next deadline; nil if no call has one, or another alarm is set.
    private func settleLate(at alarm: SuspendingClock.Instant) -> SuspendingClock.Instant? {
        let (late, next) = state.withLock { state -> ([UInt64], SuspendingClock.Instant?) in
            guard state.alarm == alarm else { return ([], nil) }
            let now = SuspendingClock.now
            let late = state.calls.filter { $0.value.deadline.map { $0 <= now } ?? false }.map(\.key)
            state.alarm = state.calls.values.compactMap(\.deadline).filter { $0 > now }.min()
            return (late, state.alarm)
        }
        for id in late { settle(id, .error(.waiting(.timeout, settings.name))) }
        return next
    }
}
