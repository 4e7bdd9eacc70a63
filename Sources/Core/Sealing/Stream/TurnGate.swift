internal import Glibc

/// Lets workers through in the order of their tickets, or sends all of them away.
final class TurnGate {
    private let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
    private let condition = UnsafeMutablePointer<pthread_cond_t>.allocate(capacity: 1)
    private var next = 0
    private var isStopped = false

    init() {
        pthread_mutex_init(mutex, nil)
        pthread_cond_init(condition, nil)
    }

    deinit {
        pthread_cond_destroy(condition)
        pthread_mutex_destroy(mutex)
        condition.deallocate()
        mutex.deallocate()
    }

    /// Waits for the turn of `ticket`; false when everybody has been sent away.
    func wait(for ticket: Int) -> Bool {
        pthread_mutex_lock(mutex)
        defer { pthread_mutex_unlock(mutex) }
        while next != ticket && !isStopped { pthread_cond_wait(condition, mutex) }
        return !isStopped
    }

    /// Ends the current turn.
    func advance() {
        change { next += 1 }
    }

    /// Sends everybody away, now and later.
    func stop() {
        change { isStopped = true }
    }

    private func change(_ body: () -> Void) {
        pthread_mutex_lock(mutex)
        body()
        pthread_cond_broadcast(condition)
        pthread_mutex_unlock(mutex)
    }
}

// Protected by `mutex`: `next` and `isStopped` are only touched while it is held.
extension TurnGate: @unchecked Sendable {}
