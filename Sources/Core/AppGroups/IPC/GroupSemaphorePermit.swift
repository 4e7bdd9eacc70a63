/// One that was taken from a semaphore, until this value ends or its process does.
///
/// The kernel counts for the whole process: a permit may end on another thread. execve(2) keeps the count, fork(2) does not
/// hand it on.
public struct GroupSemaphorePermit: ~Copyable, Sendable {
    private let semaphore: GroupSemaphore

    init(_ semaphore: GroupSemaphore) { self.semaphore = semaphore }

    /// Gives it back now.
    public consuming func end() {}

    deinit {
        // Where the semaphore is gone there is nothing to give back to.
        try? semaphore.change(1, undoing: true)
    }
}
