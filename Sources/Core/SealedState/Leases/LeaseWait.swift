internal import FileMonitoring
internal import SharedFiles
internal import Synchronization

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
                    signal = LeaseSignal(watching: LeaseTable.path(of: name, in: store.containerPath))
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
                try LeaseTable(writer: store.writer).attempt(
                    name, for: duration, waitedSince: waitedSince, timeout: call.remaining ?? left,
                    isCancelled: { call.isCancelled })
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
    private let registration: MonitorRegistration?

    init(watching path: String) {
        registration = try? FileMonitor.shared.watch(path) { [alarmSignal] _ in alarmSignal.ring(isKept: true) }
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
