internal import Dispatch
public import FoundationEssentials
internal import Sealing
public import SharedFiles
internal import Synchronization

/// The calls that may wait, for tasks: they wait on dedicated threads, never on those that run tasks.
///
/// Cancelling the task ends a write with `.cancelled` until the manifest's lock is held; then the write is finished.
extension SealedFiles {
    /// Opens the present version of a file; see the form without `async`.
    public func open(_ name: String) async throws(StoreError) -> SealedFileHandle {
        try await SealedStore.offload { (_) throws(StoreError) in try self.open(name) }
    }

    /// Returns the contents of a file: all or nothing; see the form without `async`.
    public func read(_ name: String, upTo limit: Int = 1 << 30) async throws(StoreError) -> [UInt8] {
        try await SealedStore.offload { (_) throws(StoreError) in try self.read(name, upTo: limit) }
    }

    /// Returns a range of the contents; see the form without `async`.
    public func read(_ name: String, _ range: Range<Int>) async throws(StoreError) -> [UInt8] {
        try await SealedStore.offload { (_) throws(StoreError) in try self.read(name, range) }
    }

    /// Creates or replaces a file with bytes in memory; see the form without `async`.
    @discardableResult
    public func write(
        _ bytes: some ContiguousBytes & Sendable, named name: String,
        _ attributes: SealedFiles.Attributes = SealedFiles.Attributes(), onlyIf condition: WriteCondition = .always,
        holding fence: LeaseFence? = nil, durability: Durability? = nil, timeout: Duration? = nil
    ) async throws(StoreError) -> UInt64 {
        try await limited(timeout) { call throws(StoreError) in
            try self.write(
                NewContents(bytes), name, attributes,
                self.request(call, condition, fence, durability, timeout))
        }
    }

    /// Creates or replaces a file with the rest of an open file, pipe or socket; see the form without `async`.
    @discardableResult
    public func write(
        fromDescriptor descriptor: Int32, named name: String,
        _ attributes: SealedFiles.Attributes = SealedFiles.Attributes(), onlyIf condition: WriteCondition = .always,
        holding fence: LeaseFence? = nil, durability: Durability? = nil, timeout: Duration? = nil
    ) async throws(StoreError) -> UInt64 {
        try await limited(timeout) { call throws(StoreError) in
            try self.write(
                NewContents(descriptor: descriptor, isCancelled: { call.isCancelled }), name, attributes,
                self.request(call, condition, fence, durability, timeout))
        }
    }

    /// Creates or replaces a file with the pieces of an asynchronous sequence, in constant memory. A sequence that is
    /// faster than the disk is made to wait.
    ///
    /// - Parameters:
    ///   - sequence: The contents in order.
    ///   - name: The file's name.
    ///   - attributes: The media type, dates and class; none unless stated.
    ///   - condition: The required stored state; any unless stated.
    ///   - fence: The lease that the caller relies on.
    ///   - durability: The store's unless stated.
    ///   - timeout: The time limit for the lock; the store's limit unless stated. The sequence has no limit.
    /// - Returns: The sequence of this write.
    /// - Throws: `StoreError`, as the form with bytes; `.declined` with the error of the sequence as its `cause`, and
    ///   nothing was written.
    @discardableResult
    public func write<Pieces: AsyncSequence & Sendable>(
        contentsOf sequence: Pieces, named name: String,
        _ attributes: SealedFiles.Attributes = SealedFiles.Attributes(), onlyIf condition: WriteCondition = .always,
        holding fence: LeaseFence? = nil, durability: Durability? = nil, timeout: Duration? = nil
    ) async throws(StoreError) -> UInt64 where Pieces.Element: ContiguousBytes & Sendable {
        let pipe = PiecePipe(name)
        let feeding = Task { await pipe.feed(sequence) }
        // The sequence is given up when the write has failed; it may never end.
        defer {
            feeding.cancel()
            pipe.close()
        }
        // On threads of their own: the sequence may be read on those of the other calls.
        return try await limited(timeout, on: Self.sequenceThreads) { call throws(StoreError) in
            let contents = NewContents(size: nil) { buffer throws(StoreError) in
                try pipe.read(into: buffer, isCancelled: { call.isCancelled })
            }
            return try self.write(
                contents, name, attributes, self.request(call, condition, fence, durability, timeout))
        }
    }

    /// Deletes a file; see the form without `async`.
    @discardableResult
    public func delete(
        _ name: String, onlyIf condition: WriteCondition = .always, holding fence: LeaseFence? = nil,
        durability: Durability? = nil, timeout: Duration? = nil
    ) async throws(StoreError) -> UInt64 {
        try await limited(timeout) { call throws(StoreError) in
            try self.delete(name, self.request(call, condition, fence, durability, timeout))
        }
    }

    /// Removes the tombstone of a deleted file; see the form without `async`.
    public func purge(_ name: String, timeout: Duration? = nil) async throws(StoreError) {
        try await limited(timeout) { call throws(StoreError) in
            try self.purge(name, self.request(call, .always, nil, .durable, timeout))
        }
    }

    /// The limit covers the wait for a thread; the lock has the limit of its own, after the contents are sealed.
    private func limited<Value: Sendable>(
        _ timeout: Duration?, on threads: BlockingThreadPool = SealedStore.threads,
        _ body: @escaping @Sendable (BlockingCall) throws(StoreError) -> Value
    ) async throws(StoreError) -> Value {
        try await SealedStore.offload(atMost: timeout ?? store.options.lockTimeout, on: threads, body)
    }

    private static let sequenceThreads = BlockingThreadPool(named: "file-sequence", most: 64, stackSize: 8 << 20)

    private func request(
        _ call: BlockingCall, _ condition: WriteCondition, _ fence: LeaseFence?, _ durability: Durability?,
        _ timeout: Duration?
    ) -> WriteRequest {
        store.writer.request(
            onlyIf: condition, holding: fence, durability: durability, timeout: timeout,
            isCancelled: { call.isCancelled })
    }
}

/// The pieces of an asynchronous sequence on their way to a thread that seals them.
///
/// The task that iterates the sequence is suspended while enough pieces wait; the sealing thread is blocked while none
/// does.
final class PiecePipe: Sendable {
    private enum End {
        case finished
        case failed(any Error)
    }

    private struct State {
        var bytes: [UInt8] = []
        /// The number of bytes that were taken.
        var position = 0
        var waiting: Int { bytes.count - position }
        var end: End?
        var isClosed = false
        var feeder: CheckedContinuation<Void, Never>?
    }

    /// The number of waiting bytes from which on the sequence is made to wait.
    private static let capacity = 2 << 20
    private let name: String
    private let state = Mutex(State())
    /// Raised when bytes are waiting after none was, and for the end.
    private let news = DispatchSemaphore(value: 0)

    init(_ name: String) { self.name = name }

    /// Iterates a sequence to its end, to its failure, or until the pipe is closed.
    func feed<Pieces: AsyncSequence>(_ sequence: Pieces) async where Pieces.Element: ContiguousBytes {
        do {
            for try await piece in sequence where await !push(piece) { return }
            finish(Task.isCancelled ? .failed(CancellationError()) : .finished)
        } catch { finish(.failed(error)) }
    }

    /// - Returns: `false` if no reader needs further pieces.
    private func push(_ piece: some ContiguousBytes) async -> Bool {
        let isNews = piece.withUnsafeBytes { piece in
            state.withLock { state in
                defer { state.bytes.append(contentsOf: piece) }
                return state.waiting == 0 && !piece.isEmpty
            }
        }
        if isNews { news.signal() }
        await withCheckedContinuation { continuation in
            let mayGoOn = state.withLock { state in
                if state.waiting < Self.capacity || state.isClosed { return true }
                state.feeder = continuation
                return false
            }
            if mayGoOn { continuation.resume() }
        }
        return state.withLock { !$0.isClosed }
    }

    private func finish(_ end: End) {
        state.withLock { $0.end = end }
        news.signal()
    }

    /// Ends the wait of the sequence: the contents are written, or the write has failed.
    func close() { wake { $0.isClosed = true } }

    private func wake(_ change: (inout State) -> Void) {
        let feeder = state.withLock { state in
            change(&state)
            return state.waiting < Self.capacity || state.isClosed ? state.feeder.take() : nil
        }
        feeder?.resume()
    }

    /// Blocks until there are bytes; returns 0 at the end.
    func read(
        into buffer: UnsafeMutableRawBufferPointer, isCancelled: () -> Bool
    ) throws(StoreError) -> Int {
        while true {
            if isCancelled() { throw StoreError(.cancelled, "write", name, "The task was cancelled.") }
            let (count, end) = take(into: buffer)
            if count > 0 { return count }
            switch end {
            case .finished: return 0
            case .failed(let error): throw declined(error)
            // Cancellation signals nothing.
            case nil: _ = news.wait(timeout: .now() + .milliseconds(100))
            }
        }
    }

    private func take(into buffer: UnsafeMutableRawBufferPointer) -> (Int, End?) {
        var result: (Int, End?) = (0, nil)
        wake { state in
            let count = min(buffer.count, state.waiting)
            if count == 0 { return result.1 = state.end }
            buffer.copyBytes(from: state.bytes[state.position..<state.position + count])
            result.0 = count
            state.position += count
            // Each byte is moved once at most, also those of a huge piece.
            if state.position >= max(Self.capacity, state.waiting) || state.waiting == 0 {
                state.bytes.removeFirst(state.position)
                state.position = 0
            }
        }
        return result
    }

    private func declined(_ error: any Error) -> StoreError {
        if let error = error as? StoreError { return error }
        if error is CancellationError { return StoreError(.cancelled, "write", name, "The task was cancelled.") }
        // The error's own text stays in its cause: it may contain contents.
        return StoreError(
            .declined, "write", name, "The sequence of its contents threw an error.",
            advice: "See the underlying error; nothing was written.", cause: error)
    }
}
