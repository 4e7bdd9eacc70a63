internal import FileMonitoring
internal import SharedFiles
internal import Synchronization

extension SealedStore {
    /// Runs work that only one program of the group may run at a time, such as refreshing a token.
    ///
    /// One of several callers holds the lease and runs `body`; the others wait, and when it has finished they get
    /// `.reused` and use its result. If it fails, dies, or its time runs out, one of them takes over. `body` checks
    /// whether the work is still needed: a caller that arrives after all have finished takes a new lease.
    ///
    /// A holder that was stopped past its time does not know it. Pass `fence` to the writes that rely on the lease
    /// (`write(_:holding:)`): they are refused with `.leaseLost` once it has ended. Its number also increases with each
    /// holder, for other systems that can compare it.
    ///
    /// ```swift
    /// let outcome = try await store.withLease("refresh-token", for: .seconds(10)) { fence in
    ///     let token = try await server.refresh()
    ///     try await store.write(AuthState(token), holding: fence)
    /// }
    /// ```
    /// - Parameters:
    ///   - name: The lease's name, by the rules of record names.
    ///   - duration: The time limit for the work, on a clock that cannot be set and that runs while the machine sleeps.
    ///   - limit: The time limit for other holders.
    ///   - isolation: The actor on which `body` runs, by default the caller's.
    ///   - body: The work. It may renew the lease with `renewLease`.
    /// - Returns: The work's value, or `.reused` if another program did the work.
    /// - Throws: `StoreError` `.leaseTimeout` if other programs held it for the whole limit, `.cancelled`, or the
    ///   errors of reading and writing the lease's record; and the errors of `body`.
    public func withLease<Value: Sendable>(
        _ name: String, for duration: Duration, waitingUpTo limit: Duration = .seconds(30),
        isolation: isolated (any Actor)? = #isolation, _ body: (LeaseFence) async throws -> Value
    ) async throws -> LeaseOutcome<Value> {
        guard let lease = try await LeaseWait(store: self, name: name, duration: duration, limit: limit).take() else {
            return .reused
        }
        let fence = lease.fence
        let value: Value
        do { value = try await body(fence) } catch {
            // The work's error is more useful than that of a lease that could not be returned and will end by itself.
            _ = try? await end(lease, completed: false)
            throw error
        }
        // The work is done, and its value must not be lost if noting that fails: other programs may do the work again.
        let isInTime = (try? await end(lease, completed: true)) ?? false
        return isInTime ? .performed(value) : .outlived(value)
    }

    /// Extends the lease of a running `withLease` to that duration from now on.
    ///
    /// - Throws: `StoreError` `.leaseLost` when it has ended already.
    public func renewLease(_ fence: LeaseFence, for duration: Duration) async throws(StoreError) {
        try await Self.offload { (_) throws(StoreError) in
            try self.onPresentContainer { store throws(StoreError) in
                try LeaseTable(writer: store.writer).renew(fence, for: duration)
            }
        }
    }

    /// Ends the lease. Cancellation does not prevent finished work from being noted.
    private func end(_ lease: HeldLease, completed: Bool) async throws(StoreError) -> Bool {
        try await Self.offload { (_) throws(StoreError) in
            try self.onPresentContainer { store throws(StoreError) in
                try LeaseTable(writer: store.writer).end(lease, completed: completed)
            }
        }
    }
}

/// The outcome of a call that needed a lease.
public enum LeaseOutcome<Value: Sendable>: Sendable {
    /// This call held the lease and did the work.
    case performed(Value)
    /// Another program did the work while this call waited: read its result.
    case reused
    /// This call did the work, but its time was up before it ended, or its end could not be noted; another program may
    /// do it as well. Writes that named the fence after its time were refused.
    case outlived(Value)

    /// The value of work that this call did; nil if another program did it.
    public var value: Value? {
        switch self {
        case .performed(let value), .outlived(let value): value
        case .reused: nil
        }
    }
}

/// Proof of holding a lease, passed to writes: they are refused once another program holds it.
public struct LeaseFence: Sendable, Hashable {
    /// The lease's name.
    public let lease: String
    /// The number of the holder: +1 each time the lease is taken.
    public let number: UInt64
    /// The container of the lease's record: in another one the same number may belong to another holder.
    let container: UInt64
}

/// Tries to take a lease, and waits for changes in between.
///
/// A lease that is returned or renewed changes its record's file and wakes the waiter immediately. A holder's death
/// changes no file, so the waiter also checks periodically.
struct LeaseWait {
    private static let longestPause = Duration.milliseconds(200)
    private static let shortestPause = Duration.milliseconds(1)
    private static let shortestLimit = Duration.seconds(1)

    let store: SealedStore
    let name: String
    let duration: Duration
    let limit: Duration

    /// The lease; nil when another program completed the work meanwhile.
    func take() async throws(StoreError) -> HeldLease? {
        let deadline = ContinuousClock.now + limit
        var waitedSince: UInt64?
        var signal: LeaseSignal?
        while true {
            switch try await attempt(waitedSince, until: deadline) {
            case .taken(let lease): return lease
            case .completed: return nil
            case .busy(let number, let remaining):
                if waitedSince == nil { waitedSince = number }
                let left = deadline - ContinuousClock.now
                guard left > .zero else {
                    throw timeout("Holder \(number) kept it for the whole time limit of \(limit).")
                }
                guard let signal else {
                    // Checked once more after the watch is in place: an earlier change wakes no waiter.
                    signal = LeaseSignal(
                        watching: try LeaseTable.place(name, group: store.group.identifier), in: store)
                    continue
                }
                await signal.wait(atMost: min(left, max(remaining, Self.shortestPause), Self.longestPause))
                if Task.isCancelled { throw StoreError(.cancelled, "take the lease", name, "The task was cancelled.") }
            }
        }
    }

    private func attempt(
        _ waitedSince: UInt64?, until deadline: ContinuousClock.Instant
    ) async throws(StoreError) -> LeaseAttempt {
        // A lock is held briefly only: a caller that does not wait for a holder still waits for the lock.
        let left = max(deadline - ContinuousClock.now, Self.shortestLimit)
        do throws(StoreError) {
            return try await SealedStore.offload(atMost: left) { (call) throws(StoreError) in
                try store.onPresentContainer { store throws(StoreError) in
                    try LeaseTable(writer: store.writer).attempt(
                        name, for: duration, waitedSince: waitedSince, timeout: call.remaining ?? left,
                        isCancelled: { call.isCancelled })
                }
            }
        } catch {
            guard error.code == .lockTimeout else { throw error }
            throw timeout("Another program held the lock of its record for the whole time limit.", error)
        }
    }

    private func timeout(_ reason: String, _ cause: StoreError? = nil) -> StoreError {
        StoreError(
            .leaseTimeout, "take the lease", name, reason, advice: "Try again, or end the program that holds it.",
            cause: cause)
    }
}

/// Wakes the waiter for a file's change; a change before the wait ends it immediately. For one waiter.
final class LeaseSignal: Sendable {
    private struct State {
        var isRung = false
        var waiter: CheckedContinuation<Void, Never>?
    }

    /// The monitor's target; it does not keep the registration alive.
    private final class AlarmSignal: Sendable {
        private let state = Mutex(State())

        /// - Parameter isKept: Pass `true` to end the next wait if there is no waiter now.
        func ring(isKept: Bool) {
            let waiter = state.withLock { state in
                defer { state.waiter = nil }
                if state.waiter == nil && isKept { state.isRung = true }
                return state.waiter
            }
            waiter?.resume()
        }

        func wait() async {
            await withCheckedContinuation { continuation in
                let isRung = state.withLock { state in
                    defer { state.isRung = false }
                    if !state.isRung { state.waiter = continuation }
                    return state.isRung
                }
                if isRung { continuation.resume() }
            }
        }
    }

    private let alarmSignal = AlarmSignal()
    /// Nil if the system gives no more watches: then each wait takes its full time.
    private let registration: (any Sendable)?

    init(watching place: RecordPlace, in store: SealedStore) {
        registration = try? store.watch(place) { [alarmSignal] in alarmSignal.ring(isKept: true) }
    }

    /// Waits for a change, for the end of the time, or for the task's cancellation.
    func wait(atMost limit: Duration) async {
        let timer = Task { [alarmSignal] in
            guard (try? await Task.sleep(for: limit)) != nil else { return }
            alarmSignal.ring(isKept: false)
        }
        await withTaskCancellationHandler {
            await alarmSignal.wait()
        } onCancel: { [alarmSignal] in
            alarmSignal.ring(isKept: true)
        }
        timer.cancel()
    }
}
