internal import Synchronization

/// Wakes the tasks that wait for a change. However many changes come while nobody waits, they count as one.
final class ChangeSignal: Sendable {
    private struct State {
        /// How many changes there were; compared for being another one only.
        var count: UInt64 = 0
        var isFinished = false
        var waiters: [UInt64: CheckedContinuation<Void, Never>] = [:]
        var nextTicket: UInt64 = 0
    }

    private let state = Mutex(State())

    /// How many changes there were so far. Ask before looking at what may change: then none is missed.
    var count: UInt64 { state.withLock { $0.count } }

    /// Whether nobody is to wait any more.
    var isFinished: Bool { state.withLock { $0.isFinished } }

    /// There was a change.
    func raise() { wakeAll { $0.count &+= 1 } }

    /// Nothing more is to come.
    func finish() { wakeAll { $0.isFinished = true } }

    private func wakeAll(_ change: (inout State) -> Void) {
        let waiters = state.withLock { state in
            change(&state)
            defer { state.waiters = [:] }
            return state.waiters
        }
        for waiter in waiters.values { waiter.resume() }
    }

    /// Waits for a change after that count, the end, or the task's cancellation.
    func wait(beyond seen: UInt64) async {
        let ticket = state.withLock { state in
            state.nextTicket &+= 1
            return state.nextTicket
        }
        await withTaskCancellationHandler {
            await withCheckedContinuation { waiter in
                let isOver = state.withLock { state in
                    if state.isFinished || state.count != seen { return true }
                    state.waiters[ticket] = waiter
                    return false
                }
                if isOver { waiter.resume() }
                // A cancellation that came before the waiter was there found nobody to wake.
                if Task.isCancelled { wake(ticket) }
            }
        } onCancel: {
            wake(ticket)
        }
    }

    private func wake(_ ticket: UInt64) {
        state.withLock { $0.waiters.removeValue(forKey: ticket) }?.resume()
    }
}
