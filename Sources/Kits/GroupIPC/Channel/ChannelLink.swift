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

    /// - Parameter connection: After the introductions.
    init(_ connection: ChannelConnection, _ peer: GroupPeer) {
        self.peer = peer
        self.connection = connection
        let calls = ChannelCalls(connection.settings)
        self.calls = calls
        connection.follow({ calls.accept($0) }, ended: { calls.finish($0) })
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
            connection.introduce()
            return ChannelLink(connection, try await connection.meet(wait))
        } catch {
            connection.close()
            throw error
        }
    }

    /// A new request needs another connection: no reply will arrive any more, or the keys or the roster were changed.
    var isOver: Bool {
        if calls.end != nil { return true }
        // The next connection finds the reason of a failure again, and throws it.
        do throws(AppGroupError) { return try !connection.hasPresentKeys() } catch { return true }
    }

    func close() { connection.close() }

    /// Sends a request and waits for the end of the call.
    func ask(_ request: [UInt8], _ wait: SocketWait) async -> Outcome {
        let id = calls.number()
        let cancelled = Outcome.error(.waiting(.cancelled, connection.settings.name))
        let outcome = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                calls.begin(id, continuation, until: wait.deadline)
                // A request that was sent in part is sent on after the call's end: other frames follow it.
                let limit = (wait.deadline ?? .now) + ChannelConnection.patience
                connection.send(ChannelFrame(kind: .request, id: id, body: request), by: limit) { [calls] isSent in
                    if !isSent { calls.settle(id, .notSent) }
                }
                calls.handOver(id)
                // A cancellation before the call had begun found nothing to end.
                if Task.isCancelled { calls.settle(id, cancelled) }
            }
        } onCancel: {
            calls.settle(id, cancelled)
        }
        if case .error(let error) = outcome, error.code == .cancelled || error.code == .timeout {
            connection.withdraw(id)
        }
        return outcome
    }
}

/// The calls of one connection that wait for a reply.
private final class ChannelCalls: Sendable {
    private struct Call: Sendable {
        let continuation: CheckedContinuation<ChannelLink.Outcome, Never>
        let deadline: SuspendingClock.Instant?
        /// The connection has the request, unless it had ended before: then `settle` ends the call.
        var isHandedOver = false
    }

    private struct State: Sendable {
        var last: UInt64 = 0
        var calls: [UInt64: Call] = [:]
        var end: AppGroupError?
        /// The times at which the calls whose time is over are looked for; each was set before the earlier ones.
        var alarms: [SuspendingClock.Instant] = []

        /// Returns a time at which an alarm has to be set; nil if one will come by then.
        mutating func alarm(by end: SuspendingClock.Instant?) -> SuspendingClock.Instant? {
            guard let end, alarms.allSatisfy({ end < $0 }) else { return nil }
            alarms.append(end)
            return end
        }
    }

    private let settings: ChannelSettings
    private let state = Mutex(State())

    init(_ settings: ChannelSettings) { self.settings = settings }

    /// The reason why no reply will arrive; nil while one may.
    var end: AppGroupError? { state.withLock { $0.end } }

    /// Returns the number of a new call.
    func number() -> UInt64 {
        state.withLock { state in
            state.last += 1
            return state.last
        }
    }

    /// Begins a call, which `settle` ends.
    func begin(
        _ id: UInt64, _ continuation: CheckedContinuation<ChannelLink.Outcome, Never>,
        until deadline: SuspendingClock.Instant?
    ) {
        let alarm = state.withLock { state -> SuspendingClock.Instant? in
            state.calls[id] = Call(continuation: continuation, deadline: deadline)
            return state.alarm(by: deadline)
        }
        if let alarm { set(alarm) }
    }

    /// States that the connection has the request of a call that has not ended.
    func handOver(_ id: UInt64) {
        let lost = state.withLock { state -> (Call, AppGroupError)? in
            state.calls[id]?.isHandedOver = true
            guard let end = state.end, let call = state.calls.removeValue(forKey: id) else { return nil }
            return (call, end)
        }
        if let (call, error) = lost { call.continuation.resume(returning: .error(error)) }
    }

    /// Ends a call that has not ended.
    func settle(_ id: UInt64, _ outcome: ChannelLink.Outcome) {
        state.withLock { $0.calls.removeValue(forKey: id) }?.continuation.resume(returning: outcome)
    }

    func accept(_ frame: ChannelFrame) -> ChannelConnection.Demand {
        if frame.kind == .reply {
            settle(frame.id, .reply(frame.body))
        } else if let failure = frame.failure {
            settle(frame.id, .failure(failure))
        } else {
            return .end
        }
        return .next
    }

    /// Ends the calls whose request the connection has; it does not take others.
    func finish(_ error: AppGroupError) {
        let calls = state.withLock { state in
            state.end = error
            let calls = state.calls.filter(\.value.isHandedOver)
            for id in calls.keys { state.calls[id] = nil }
            return calls
        }
        for call in calls.values { call.continuation.resume(returning: .error(error)) }
    }

    private func set(_ alarm: SuspendingClock.Instant) {
        SocketPoll.shared.watch(for: 0, at: -1, until: alarm) { [weak self] _ in self?.settleLate(at: alarm) }
    }

    /// Ends the calls whose time is over, and sets the next alarm unless one will come by then.
    private func settleLate(at alarm: SuspendingClock.Instant) {
        let (late, next) = state.withLock { state -> ([Call], SuspendingClock.Instant?) in
            state.alarms.removeAll { $0 == alarm }
            let now = SuspendingClock.now
            let late = state.calls.filter { $0.value.deadline.map { $0 <= now } ?? false }
            for id in late.keys { state.calls[id] = nil }
            return (Array(late.values), state.alarm(by: state.calls.values.compactMap(\.deadline).min()))
        }
        for call in late { call.continuation.resume(returning: .error(.waiting(.timeout, settings.name))) }
        if let next { set(next) }
    }
}
