public import AppGroups
internal import Glibc
internal import SharedFiles

/// A counting semaphore between the programs of an app group.
///
/// The semaphore exists in the kernel from the first opening until the machine is switched off, ``unlink()`` is called,
/// or the system removes it (`docs/guides/coordination-and-ipc.md`). Changes of a member to files of the container do
/// not affect an open one.
///
/// ```swift
/// let semaphore = try GroupSemaphore("refresh", in: container, startingAt: 1)
/// let permit = try semaphore.permit(timeout: .seconds(5))   // released when it ends, and when this process dies
/// ```
public final class GroupSemaphore: Sendable {
    /// The highest value that a semaphore can have.
    public static let maximumValue = 32_767

    /// The semaphore's name.
    public let name: GroupIPCName

    let kernel: KernelSemaphore

    /// Opens a semaphore, and creates it if it is missing. Many processes that do so at once get the same one.
    ///
    /// - Parameters:
    ///   - name: The name within the group; see ``GroupIPCName``.
    ///   - container: The group's container. Its users may use the semaphore.
    ///   - value: The initial value, if this call creates it: 0 to 32,767. An existing one keeps its value.
    ///   - creating: Whether to create it. With `false` nothing is written.
    /// - Throws: ``AppGroupError`` with `invalidIPCName`; `ipcMissing`; `ipcDamaged` if its file in the container was
    ///   changed; `ipcUntrusted`; `ipcElsewhere` if it was created in another IPC namespace; `ipcLimit`; `ipcOverflow`
    ///   for a value out of range; `ipcNotShareable` if a shared one would be open to others as well; `timeout`; the
    ///   errors of `GroupContainer.open`.
    public init(
        _ name: String, in container: GroupContainer, startingAt value: Int = 0, creating: Bool = true
    ) throws(AppGroupError) {
        self.name = try GroupIPCName(name, in: container.group)
        guard (0...Self.maximumValue).contains(value) else { throw AppGroupError.kernel(ERANGE, "make", self.name) }
        kernel = try container.openSemaphore(self.name, startingAt: value, creating: creating)
    }

    /// Removes a semaphore for all processes: waiting ones get `ipcRemoved`, and the next opening creates a new one.
    ///
    /// A record of another IPC namespace, a damaged one, and one that is open to others are removed as well. Make sure
    /// that no process still uses it, since it would then use a different semaphore.
    /// - Throws: ``AppGroupError`` with `ipcNotOwner` if it is another user's; the errors of opening. A missing one is
    ///   not an error.
    public static func unlink(_ name: String, in container: GroupContainer) throws(AppGroupError) {
        try container.unlink(.semaphore, name)
    }
}

extension GroupSemaphore {
    /// The current value; another process may change it at any time.
    ///
    /// - Throws: ``AppGroupError`` with `ipcRemoved`.
    public var value: Int {
        get throws(AppGroupError) {
            let value = kernel.value()
            if value < 0 { throw AppGroupError.kernel(-value, "read", name) }
            return Int(value)
        }
    }

    /// Adds one, so that one waiting process continues.
    ///
    /// - Throws: ``AppGroupError`` with `ipcRemoved`, `ipcOverflow`.
    public func post() throws(AppGroupError) { try change(1, undoing: false) }

    /// Subtracts one; blocks the calling thread until the value allows it.
    ///
    /// A process that dies does not return the unit that it took: see ``permit(timeout:)``.
    /// - Throws: ``AppGroupError`` with `timeout`; `ipcRemoved`, also while it waits.
    public func wait(timeout: Duration = .seconds(10)) throws(AppGroupError) {
        try take(timeout, undoing: false, isCancelled: nil)
    }

    /// Subtracts one if the value allows it; returns `false` otherwise.
    ///
    /// - Throws: ``AppGroupError`` with `ipcRemoved`.
    public func tryWait() throws(AppGroupError) -> Bool {
        do throws(AppGroupError) {
            try wait(timeout: .zero)
            return true
        } catch {
            guard error.code == .timeout else { throw error }
            return false
        }
    }

    /// Subtracts one until the permit ends. If this process dies, even by SIGKILL, the kernel adds it back.
    ///
    /// - Throws: as ``wait(timeout:)``.
    public func permit(timeout: Duration = .seconds(10)) throws(AppGroupError) -> GroupSemaphorePermit {
        try take(timeout, undoing: true, isCancelled: nil)
        return GroupSemaphorePermit(self)
    }

    func change(_ value: Int32, undoing: Bool) throws(AppGroupError) {
        while true {
            let result = kernel.add(value, undoing: undoing, atMost: nil)
            if result == 0 { return }
            if result != -EINTR { throw AppGroupError.kernel(-result, "post", name) }
        }
    }

    /// - Parameter isCancelled: Checked about twenty times a second. Each check loses the place in the kernel's queue.
    func take(_ limit: Duration, undoing: Bool, isCancelled: (() -> Bool)?) throws(AppGroupError) {
        let deadline = SuspendingClock.now + limit
        while true {
            if isCancelled?() == true { throw .waiting(.cancelled, name) }
            let remaining = max(.zero, deadline - SuspendingClock.now)
            let slice = isCancelled == nil ? remaining : min(remaining, .milliseconds(50))
            let result = kernel.add(-1, undoing: undoing, atMost: slice.inNanoseconds)
            if result == 0 { return }
            guard result == -EAGAIN || result == -EINTR else { throw AppGroupError.kernel(-result, "wait for", name) }
            if remaining == .zero { throw .waiting(.timeout, name) }
        }
    }
}

extension Duration {
    /// Whole nanoseconds, of at most 2^32 seconds.
    fileprivate var inNanoseconds: Int64 {
        let part = min(self, .seconds(1 << 32)).components
        return part.seconds * 1_000_000_000 + part.attoseconds / 1_000_000_000
    }
}

extension AppGroupError {
    static func waiting(_ code: Code, _ name: GroupIPCName) -> Self {
        .ipc(
            code, "wait for", name.description, code == .timeout ? "the time limit has passed" : "it was cancelled",
            code == .timeout ? "Check that the program that posts is running." : "Try again if it is still needed.")
    }
}

/// A unit taken from a semaphore, until this value or its process ends.
///
/// The kernel counts per process: a permit may end on another thread. execve(2) keeps the count, fork(2) does not
/// inherit it.
public struct GroupSemaphorePermit: ~Copyable, Sendable {
    private let semaphore: GroupSemaphore

    init(_ semaphore: GroupSemaphore) { self.semaphore = semaphore }

    /// Returns the unit.
    public consuming func end() {}

    deinit {
        // Fails if the semaphore was removed; then nothing has to be returned.
        try? semaphore.change(1, undoing: true)
    }
}

/// The blocking calls, for tasks. They wait on threads of their own, at most 64 in a process for all semaphores;
/// further calls wait in a queue, where their limit runs as well. Cancelling the task ends the waiting with
/// `cancelled`.
extension GroupSemaphore {
    /// Subtracts one; see the synchronous form.
    public func wait(timeout: Duration = .seconds(10)) async throws(AppGroupError) {
        try await IPCThreads.semaphores.run(timeout, "wait for", name) { (call) throws(AppGroupError) in
            try self.take(call.remaining ?? .zero, undoing: false) { call.isCancelled }
        }
    }

    /// Subtracts one until the permit ends; see the synchronous form.
    public func permit(timeout: Duration = .seconds(10)) async throws(AppGroupError) -> GroupSemaphorePermit {
        try await IPCThreads.semaphores.run(timeout, "wait for", name) { (call) throws(AppGroupError) in
            try self.take(call.remaining ?? .zero, undoing: true) { call.isCancelled }
        }
        return GroupSemaphorePermit(self)
    }
}

/// Threads for blocking calls of tasks that involve other processes.
struct IPCThreads: Sendable {
    /// For waiting in the kernel, which cannot wait for semaphores and other events at once.
    static let semaphores = IPCThreads(threads: BlockingThreadPool(named: "group-semaphore", most: 64))
    /// For checking peers, since a rule may read files. No call there waits for a peer.
    static let peers = IPCThreads(threads: BlockingThreadPool(named: "group-peers", most: 16))
    /// For cancelling answers: the threads of `SocketPoll` may all be blocked by the answers that this is to end.
    static let cancellations = IPCThreads(threads: BlockingThreadPool(named: "group-cancels", most: 2))

    let threads: BlockingThreadPool

    func run<Value: Sendable>(
        _ limit: Duration?, _ operation: String, _ name: GroupIPCName,
        _ body: @escaping @Sendable (BlockingCall) throws(AppGroupError) -> Value
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

    /// Cancels a task, whose handlers of cancellation may block. Does not wait for them, unless there is no thread.
    func cancel(_ task: Task<Void, Never>) {
        threads.begin {
            task.cancel()
        } orElse: {
            task.cancel()
        }
    }
}
