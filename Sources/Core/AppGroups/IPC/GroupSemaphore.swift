internal import Glibc
internal import SharedFiles

/// A counting semaphore between the programs of an app group.
///
/// It lives in the kernel from the moment the first program opens it until the machine is switched off, ``unlink()`` is
/// called, or the system removes it (`docs/guides/coordination-and-ipc.md`). Nothing that a member does to files of the
/// container changes one that is open.
///
/// ```swift
/// let semaphore = try GroupSemaphore("refresh", in: container, startingAt: 1)
/// let permit = try semaphore.permit(timeout: .seconds(5))   // given back when it ends, and when this process dies
/// ```
public final class GroupSemaphore: Sendable {
    /// The highest value that a semaphore can have.
    public static let maximumValue = 32_767

    /// Its name.
    public let name: GroupIPCName

    let kernel: KernelSemaphore

    /// Opens a semaphore, and makes it where there is none. All of many processes that do so at once get the same one.
    ///
    /// - Parameters:
    ///   - name: Its name within the group; see ``GroupIPCName``.
    ///   - container: The group's container. Who may use it may use the semaphore.
    ///   - value: Its first value, if this call makes it: 0 to 32,767. One that exists keeps its value.
    ///   - creating: Whether to make it. With `false` nothing is written.
    /// - Throws: ``AppGroupError`` with `invalidIPCName`; `ipcMissing`; `ipcDamaged` where its file in the container was
    ///   changed; `ipcUntrusted`; `ipcElsewhere` where it was made in another IPC namespace; `ipcLimit`; `ipcOverflow` for a
    ///   value out of range; `ipcNotShareable` where a shared one would be open to others as well; `timeout`; those of
    ///   `GroupContainer.open`.
    public init(
        _ name: String, in container: GroupContainer, startingAt value: Int = 0, creating: Bool = true
    ) throws(AppGroupError) {
        self.name = try GroupIPCName(name, in: container.group)
        guard (0...Self.maximumValue).contains(value) else { throw AppGroupError.kernel(ERANGE, "make", self.name) }
        let place = try IPCPlace(self.name, IPCKind.semaphore.suffix, in: container, creating: creating)
        let wish = IPCOpening<KernelSemaphore>.Wish(kind: .semaphore, value: value)
        kernel = try IPCOpening(place: place, wish: wish).open(creating: creating).object
    }

    /// Removes a semaphore for everybody: who waits for it gets `ipcRemoved`, and who opens it next makes a new one.
    ///
    /// What stands for one of another IPC namespace, is damaged or is open to others goes as well: make sure that nobody uses
    /// it who would then have one of their own.
    /// - Throws: ``AppGroupError`` with `ipcNotOwner` where it is another user's; those of opening. One that is not there is
    ///   removed already.
    public static func unlink(_ name: String, in container: GroupContainer) throws(AppGroupError) {
        let name = try GroupIPCName(name, in: container.group)
        do throws(AppGroupError) {
            let place = try IPCPlace(name, IPCKind.semaphore.suffix, in: container, creating: false)
            try IPCOpening<KernelSemaphore>(place: place, wish: .init(kind: .semaphore)).remove()
        } catch {
            if error.code != .ipcMissing { throw error }
        }
    }
}

extension GroupSemaphore {
    /// Its value now; another process may change it at any time.
    ///
    /// - Throws: ``AppGroupError`` with `ipcRemoved`.
    public var value: Int {
        get throws(AppGroupError) {
            let value = kernel.value()
            if value < 0 { throw AppGroupError.kernel(-value, "read", name) }
            return Int(value)
        }
    }

    /// Adds one: one of those who wait goes on.
    ///
    /// - Throws: ``AppGroupError`` with `ipcRemoved`, `ipcOverflow`.
    public func post() throws(AppGroupError) { try change(1, undoing: false) }

    /// Takes one, waiting until there is one. Blocks the calling thread.
    ///
    /// A process that dies does not give back what it took: see ``permit(timeout:)``.
    /// - Throws: ``AppGroupError`` with `timeout`; `ipcRemoved`, also while it waits.
    public func wait(timeout: Duration = .seconds(10)) throws(AppGroupError) {
        try take(timeout, undoing: false, isCancelled: nil)
    }

    /// Takes one if there is one.
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

    /// Takes one until the permit ends. When this process dies, be it by SIGKILL, the kernel gives it back.
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

    /// - Parameter isCancelled: Asked about twenty times a second. Each time costs the place among those who wait.
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
    /// Whole nanoseconds, of 2^32 seconds at most.
    fileprivate var inNanoseconds: Int64 {
        let part = min(self, .seconds(1 << 32)).components
        return part.seconds * 1_000_000_000 + part.attoseconds / 1_000_000_000
    }
}

extension AppGroupError {
    static func waiting(_ code: Code, _ name: GroupIPCName) -> Self {
        .ipc(
            code, "wait for", name.description, code == .timeout ? "the time was over" : "it was cancelled",
            code == .timeout ? "See whether whoever is to answer is running." : "Try again when you want it done.")
    }
}

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
