internal import Dispatch
internal import Glibc
internal import Synchronization

/// Threads that share out batches among themselves, each taking the next one when it is done with its last.
enum Workers {
    /// Runs a body for every batch; returns when all are done. Batches begin in order and end in any.
    ///
    /// The caller's thread is one of the workers: where the system gives no other, it does all of it.
    static func run(batches: Int, workers: Int, _ body: @Sendable (Int) -> Void) {
        let next = Atomic(0)
        let count = max(1, min(workers, batches))
        guard count > 1 else { return work(through: batches, next, body) }
        DispatchQueue.concurrentPerform(iterations: count) { _ in work(through: batches, next, body) }
    }

    private static func work(through batches: Int, _ next: borrowing Atomic<Int>, _ body: @Sendable (Int) -> Void) {
        while true {
            let batch = next.add(1, ordering: .relaxed).oldValue
            guard batch < batches else { return }
            body(batch)
        }
    }

    /// As many as this process may use processors.
    static var standard: Int { max(1, sysconf(CInt(_SC_NPROCESSORS_ONLN))) }
}
