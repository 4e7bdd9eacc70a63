public import SharedFiles

/// Accesses for tasks. They wait on threads of their own, never on a thread of the task pool. At most 64 wait at once
/// in a process; further ones wait in a queue, where their time limit runs as well. The accessor runs in the caller's
/// isolation and may suspend. The access ends when it returns.
///
/// Cancelling the task ends the waiting with `cancelled`; an accessor that has begun is not interrupted.
extension FileCoordinator {
    /// Reads one file or directory; see the synchronous form.
    public func coordinate<Value>(
        readingItemAt path: String, options: ReadingOptions = [], timeout: Duration = defaultTimeout,
        isolation: isolated (any Actor)? = #isolation, _ accessor: (String) async throws(FileError) -> Value
    ) async throws(FileError) -> Value {
        let access = try await granted([.reading(path, options: options)], timeout)
        defer { access.end() }
        return try await accessor(access.paths[0])
    }

    /// Writes, moves or deletes one file or directory; see the synchronous form.
    public func coordinate<Value>(
        writingItemAt path: String, for purpose: WritingPurpose = .updating, timeout: Duration = defaultTimeout,
        isolation: isolated (any Actor)? = #isolation, _ accessor: (String) async throws(FileError) -> Value
    ) async throws(FileError) -> Value {
        let access = try await granted([.writing(path, for: purpose)], timeout)
        defer { access.end() }
        return try await accessor(access.paths[0])
    }

    /// Accesses several items at once; see the synchronous form.
    public func coordinate<Value>(
        with intents: [FileAccessIntent], timeout: Duration = defaultTimeout,
        isolation: isolated (any Actor)? = #isolation, _ accessor: ([String]) async throws(FileError) -> Value
    ) async throws(FileError) -> Value {
        let access = try await granted(intents, timeout)
        defer { access.end() }
        return try await accessor(access.paths)
    }

    /// A lock holder must not queue behind the accesses that wait for it. Nested accesses and those of presenters,
    /// which may be asked to save, therefore have threads of their own.
    private static let threads = BlockingThreadPool(named: "coordinator", most: 64)
    private static let innerThreads = BlockingThreadPool(named: "coordinator-in", most: 64)

    private func granted(
        _ intents: [FileAccessIntent], _ timeout: Duration
    ) async throws(FileError) -> CoordinatedAccess {
        let threads = isWaitedFor ? Self.innerThreads : Self.threads
        // A separate task, since the coordinator can be cancelled as well as the caller's task.
        let task = Task { () -> Result<CoordinatedAccess, FileError> in
            do throws(FileError) {
                return try await threads.run(atMost: timeout, "coordinate", intents.first?.path ?? "") { call in
                    Result { () throws(FileError) in
                        try self.begin(intents, call.remaining ?? .zero, isTaskCancelled: { call.isCancelled })
                    }
                }
            } catch {
                return .failure(error)
            }
        }
        let number = waits(task)
        defer { stopWaiting(number) }
        return try await withTaskCancellationHandler {
            await task.value
        } onCancel: {
            task.cancel()
        }.get()
    }
}
