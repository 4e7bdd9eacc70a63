public import SharedFiles

/// Accesses for tasks: they wait on threads of their own, never on one of the task pool; with more than 64 waiting at once in a
/// process the others stand in a line, where their limit runs as well. The accessor runs where the caller does and may wait
/// itself; the access is over when it returns.
///
/// Cancelling the task ends the waiting with `cancelled`; an accessor that has begun is not interrupted.
extension FileCoordinator {
    /// Reads one file or directory; see the form without `async`.
    public func coordinate<Value>(
        readingItemAt path: String, options: ReadingOptions = [], timeout: Duration = defaultTimeout,
        isolation: isolated (any Actor)? = #isolation, _ accessor: (String) async throws(FileError) -> Value
    ) async throws(FileError) -> Value {
        let access = try await granted([.reading(path, options: options)], timeout)
        defer { access.end() }
        return try await accessor(access.paths[0])
    }

    /// Writes, moves or deletes one file or directory; see the form without `async`.
    public func coordinate<Value>(
        writingItemAt path: String, for purpose: WritingPurpose = .updating, timeout: Duration = defaultTimeout,
        isolation: isolated (any Actor)? = #isolation, _ accessor: (String) async throws(FileError) -> Value
    ) async throws(FileError) -> Value {
        let access = try await granted([.writing(path, for: purpose)], timeout)
        defer { access.end() }
        return try await accessor(access.paths[0])
    }

    /// Accesses several items at once; see the form without `async`.
    public func coordinate<Value>(
        with intents: [FileAccessIntent], timeout: Duration = defaultTimeout,
        isolation: isolated (any Actor)? = #isolation, _ accessor: ([String]) async throws(FileError) -> Value
    ) async throws(FileError) -> Value {
        let access = try await granted(intents, timeout)
        defer { access.end() }
        return try await accessor(access.paths)
    }

    /// Whoever holds what those on the first threads wait for must not stand in a line behind them: nested accesses, and those
    /// of presenters, which may be asked to save, have threads of their own.
    private static let threads = WaitingThreads(named: "coordinator", most: 64)
    private static let innerThreads = WaitingThreads(named: "coordinator-in", most: 64)

    private func granted(
        _ intents: [FileAccessIntent], _ timeout: Duration
    ) async throws(FileError) -> CoordinatedAccess {
        let threads = isWaitedFor ? Self.innerThreads : Self.threads
        // A task of its own, since the coordinator can be cancelled as well as the caller's task.
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
        defer { waitsNoLonger(number) }
        return try await withTaskCancellationHandler {
            await task.value
        } onCancel: {
            task.cancel()
        }.get()
    }
}
