internal import SharedFiles

/// The calls that may wait, for tasks: they wait on threads of their own, at most 64 in a process for all semaphores; with more
/// the others stand in a line, where their limit runs as well. Cancelling the task ends the waiting with `cancelled`.
extension GroupSemaphore {
    /// Takes one; see the form without `async`.
    public func wait(timeout: Duration = .seconds(10)) async throws(AppGroupError) {
        try await IPCThreads.semaphores.run(timeout, "wait for", name) { (call) throws(AppGroupError) in
            try self.take(call.remaining ?? .zero, undoing: false) { call.isCancelled }
        }
    }

    /// Takes one until the permit ends; see the form without `async`.
    public func permit(timeout: Duration = .seconds(10)) async throws(AppGroupError) -> GroupSemaphorePermit {
        try await IPCThreads.semaphores.run(timeout, "wait for", name) { (call) throws(AppGroupError) in
            try self.take(call.remaining ?? .zero, undoing: true) { call.isCancelled }
        }
        return GroupSemaphorePermit(self)
    }
}

/// Threads for what tasks do with other processes and what blocks.
struct IPCThreads: Sendable {
    /// For waiting in the kernel, which cannot wait for semaphores and anything else at once.
    static let semaphores = IPCThreads(threads: WaitingThreads(named: "group-semaphore", most: 64))
    /// For looking at who is at the other end: a rule may read files. Nobody waits there for a peer.
    static let peers = IPCThreads(threads: WaitingThreads(named: "group-peers", most: 16))

    let threads: WaitingThreads

    func run<Value: Sendable>(
        _ limit: Duration?, _ operation: String, _ name: GroupIPCName,
        _ body: @escaping @Sendable (WaitingCall) throws(AppGroupError) -> Value
    ) async throws(AppGroupError) -> Value {
        let result: Result<Value, AppGroupError>
        do throws(FileError) {
            result = try await threads.run(atMost: limit, operation, name.description) { call in
                do throws(AppGroupError) { return .success(try body(call)) } catch { return .failure(error) }
            }
        } catch {
            throw AppGroupError(error, operation, ipc: name)
        }
        return try result.get()
    }
}
