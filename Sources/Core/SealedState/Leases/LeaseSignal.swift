internal import SharedFiles
internal import Synchronization

/// Wakes who waits for a file to change; a change that comes before the wait ends it at once. For one waiter.
final class LeaseSignal: Sendable {
    private struct State {
        var isRung = false
        var waiter: CheckedContinuation<Void, Never>?
    }

    /// What the monitor rings; it does not keep the registration alive.
    private final class Bell: Sendable {
        private let state = Mutex(State())

        /// - Parameter isKept: Whether it ends the next wait where nobody waits now.
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

    private let bell = Bell()
    /// Nil where the system gives no more watches: then each wait takes its time.
    private let registration: MonitorRegistration?

    init(watching path: String) {
        registration = try? FileMonitor.shared.watch(path) { [bell] _ in bell.ring(isKept: true) }
    }

    /// Waits for a change, for the end of the time, or for the task's cancellation.
    func wait(atMost limit: Duration) async {
        let timer = Task { [bell] in
            guard (try? await Task.sleep(for: limit)) != nil else { return }
            bell.ring(isKept: false)
        }
        await withTaskCancellationHandler {
            await bell.wait()
        } onCancel: { [bell] in
            bell.ring(isKept: true)
        }
        timer.cancel()
    }
}
