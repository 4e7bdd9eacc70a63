public import SealedBackends
public import SharedFiles
internal import Synchronization

/// A backend in memory for tests, with faults that a seed decides.
///
/// It keeps every promise of `SealedBackend`. The faults are those that a backend may have: calls that fail before they
/// change anything, commits whose outcome is unknown for a while, changes that are reported twice or only as *everything
/// may have changed*, and a loss of power.
///
/// ```swift
/// let memory = MemoryBackend(seed: 7, faults: .all)
/// try memory.commit([BackendWrite(BackendKey("note"), .put(blob))], durability: .durable)
/// memory.powerLoss()
/// ```
public final class MemoryBackend: SealedBackend, BackendProvider {
    /// How often a fault occurs: probabilities from 0 to 1.
    public struct Faults: Sendable, Hashable {
        /// A call fails with `.io` and has changed nothing.
        public var failure: Double
        /// A commit fails with `.indeterminate`. It is made at once, or by the next call for one of its records, or
        /// never; `settle` decides it at the latest.
        public var indeterminate: Double
        /// A change is reported a second time.
        public var repeatedChange: Double
        /// Changes are not reported one by one, but as `BackendNews.isResync`.
        public var resync: Double
        /// The duration of each call.
        public var latency: Duration

        /// Creates faults; none unless stated.
        public init(
            failure: Double = 0, indeterminate: Double = 0, repeatedChange: Double = 0, resync: Double = 0,
            latency: Duration = .zero
        ) {
            self.failure = failure
            self.indeterminate = indeterminate
            self.repeatedChange = repeatedChange
            self.resync = resync
            self.latency = latency
        }

        /// No faults.
        public static let none = Faults()
        /// Every fault, a tenth of the time.
        public static let all = Faults(failure: 0.1, indeterminate: 0.1, repeatedChange: 0.1, resync: 0.1)
    }

    /// One write in a batch of at most 64; conditions are compared; cursors work within the instance.
    public let traits = BackendTraits(
        batchLimit: 64, largestBlob: 1 << 30, comparesConditions: true, hasDurableCursors: true)
    private let state: Mutex<MemoryState>
    private let sleep: @Sendable (Duration) -> Void
    private static let maximumCopies = 64

    /// Creates an empty backend.
    ///
    /// - Parameters:
    ///   - seed: Decides which calls meet a fault. The same calls with the same seed meet the same faults.
    ///   - faults: The frequencies.
    ///   - sleep: Waits for the latency; nothing waits unless stated.
    public init(seed: UInt64 = 0, faults: Faults = .none, sleep: @escaping @Sendable (Duration) -> Void = { _ in }) {
        state = Mutex(MemoryState(seed: seed, faults: faults))
        self.sleep = sleep
    }

    /// It leaves nothing in a container.
    public var name: String? { nil }

    /// Returns this instance, for any container: give each store of one test the same instance.
    public func open(_ place: BackendPlace) throws(BackendError) -> any SealedBackend { self }

    /// The frequencies of faults from now on.
    public var faults: Faults {
        get { state.withLock { $0.faults } }
        set { state.withLock { $0.faults = newValue } }
    }

    /// Loses what was not durable, as a loss of power does.
    public func powerLoss() {
        notifyAll { state in state.losePower() }
    }

    /// Returns the beginning of a record's blob; nil if there is no blob.
    public func head(_ key: BackendKey) throws(BackendError) -> BlobHead? {
        try call("read", key) { state throws(BackendError) in
            state.blobs[key].map { BlobHead(key, bytes: Array($0.bytes.prefix(BlobHead.size))) }
        }
    }

    /// Returns a record's blob; nil if there is no blob.
    public func read(_ key: BackendKey, limit: Int) throws(BackendError) -> (any HeldBlob)? {
        try call("read", key) { state throws(BackendError) in
            guard let blob = state.blobs[key] else { return nil }
            if blob.bytes.count > limit {
                throw BackendError(
                    .tooLarge, "read", key.name, "It has \(blob.bytes.count) bytes; \(limit) are allowed.")
            }
            return MemoryBlob(bytes: blob.bytes, key: key, revision: blob.revision, backend: self)
        }
    }

    /// Makes all writes, or none.
    public func commit(_ writes: [BackendWrite], durability: Durability) throws(BackendError) {
        guard let first = writes.first else { return }
        try traits.requireLimits(of: writes)
        var failure: BackendError?
        try callAndNotify("write", first.key, writes.map(\.key)) { state throws(BackendError) in
            if state.happens(state.faults.indeterminate) {
                state.defer(MemoryCommit(writes: writes, durability: durability))
                failure = BackendError(
                    .indeterminate, "write", first.key.name, "The connection ended before there was an answer.")
                return
            }
            try state.apply(writes, durability)
        }
        if let failure { throw failure }
    }

    /// Decides the outcome of every earlier commit for a record, and makes its present blob durable.
    public func settle(_ key: BackendKey) throws(BackendError) -> BlobHead? {
        try callAndNotify("settle", key, [key]) { state throws(BackendError) in
            guard let blob = state.blobs[key] else {
                state.durable[key] = nil
                return nil
            }
            state.durable[key] = blob
            return BlobHead(key, bytes: Array(blob.bytes.prefix(BlobHead.size)))
        }
    }

    /// Returns the beginnings of blobs by name, in the order of the names' bytes.
    public func scan(_ prefix: String, after key: BackendKey?, limit: Int) throws(BackendError) -> [BlobHead] {
        try call("list", BackendKey(prefix)) { state throws(BackendError) in
            state.blobs.keys.filter { $0.name.utf8.starts(with: prefix.utf8) && (key == nil || key ?? $0 < $0) }
                .sorted().prefix(max(0, limit))
                .compactMap { key in
                    state.blobs[key].map { BlobHead(key, bytes: Array($0.bytes.prefix(BlobHead.size))) }
                }
        }
    }

    /// Reports changes from now on, or after an earlier report.
    public func changes(
        after cursor: BackendCursor?, _ notify: @escaping @Sendable () -> Void
    ) throws(BackendError) -> any BackendChanges {
        let (start, isKnown) = state.withLock { state in
            guard let cursor else { return (state.revision, true) }
            guard let revision = state.revision(of: cursor) else { return (state.revision, false) }
            return (revision, true)
        }
        let changes = MemoryChanges(self, after: start, isResync: !isKnown)
        state.withLock { $0.observe(changes, notify) }
        if cursor != nil { notify() }
        return changes
    }

    /// Keeps a copy of a record's present blob, which `copies` returns.
    public func preserve(_ key: BackendKey, reason: String, limit: Int) throws(BackendError) -> String? {
        try call("keep", key) { state throws(BackendError) in
            guard let blob = state.blobs[key] else {
                throw BackendError(.gone, "keep", key.name, "The record has no blob any more.")
            }
            if blob.bytes.count > limit {
                throw BackendError(.tooLarge, "keep", key.name, "It has \(blob.bytes.count) bytes.")
            }
            let name = "\(key.name).\(blob.revision)"
            if state.copies[name] != nil { return name }
            let count = state.copies.keys.count { $0.hasPrefix("\(key.name).") }
            guard count < Self.maximumCopies else { return nil }
            state.copies[name] = blob.bytes
            return name
        }
    }

    /// The blobs that `preserve` has kept, by the name that it returned.
    public var copies: [String: [UInt8]] { state.withLock { $0.copies } }

    fileprivate func isCurrent(_ key: BackendKey, _ revision: UInt64) -> Bool {
        state.withLock { $0.blobs[key]?.revision == revision }
    }

    fileprivate func news(after revision: UInt64, limit: Int) -> (news: BackendNews, revision: UInt64) {
        state.withLock { $0.news(after: revision, limit: limit) }
    }

    fileprivate func end(_ changes: ObjectIdentifier) {
        _ = state.withLock { $0.observers.removeValue(forKey: changes) }
    }

    private func call<Result>(
        _ operation: String, _ key: BackendKey, _ body: (inout MemoryState) throws(BackendError) -> Result
    ) throws(BackendError) -> Result {
        try callAndNotify(operation, key, [key], body)
    }

    /// Makes a call. Commits with an unknown outcome that concern its records are decided first, or stay.
    private func callAndNotify<Result>(
        _ operation: String, _ key: BackendKey, _ keys: [BackendKey],
        _ body: (inout MemoryState) throws(BackendError) -> Result
    ) throws(BackendError) -> Result {
        let latency = state.withLock { $0.faults.latency }
        if latency > .zero { sleep(latency) }
        var outcome: Swift.Result<Result, BackendError>?
        notifyAll { state in
            do throws(BackendError) {
                if state.happens(state.faults.failure) {
                    throw BackendError(.io, operation, key.name, "A simulated fault.")
                }
                state.decideDeferred(keys, mustDecide: operation == "settle")
                outcome = .success(try body(&state))
            } catch { outcome = .failure(error) }
        }
        guard let outcome else { throw BackendError(.io, operation, key.name, "The call had no outcome.") }
        return try outcome.get()
    }

    /// Changes the state, and calls the observers if a revision was added.
    private func notifyAll(_ body: (inout MemoryState) -> Void) {
        let observers = state.withLock { state in
            let before = state.revision
            body(&state)
            return state.revision == before ? [] : Array(state.observers.values)
        }
        for notify in observers { notify() }
    }
}

/// A blob of a backend in memory.
private struct MemoryBlob: HeldBlob {
    let bytes: [UInt8]
    let key: BackendKey
    let revision: UInt64
    let backend: MemoryBackend

    var isCurrent: Bool { backend.isCurrent(key, revision) }
}

private final class MemoryChanges: BackendChanges {
    private let backend: MemoryBackend
    private let position: Mutex<(revision: UInt64, isResync: Bool)>

    init(_ backend: MemoryBackend, after revision: UInt64, isResync: Bool) {
        self.backend = backend
        position = Mutex((revision, isResync))
    }

    deinit { backend.end(ObjectIdentifier(self)) }

    func next(limit: Int) throws(BackendError) -> BackendNews {
        position.withLock { position in
            var (news, revision) = backend.news(after: position.revision, limit: limit)
            if position.isResync { news.isResync = true }
            position = (revision, false)
            return news
        }
    }
}

/// A commit whose outcome is not known yet.
private struct MemoryCommit {
    let writes: [BackendWrite]
    let durability: Durability
}

private struct MemoryState {
    struct Blob {
        let bytes: [UInt8]
        let revision: UInt64
    }

    var faults: MemoryBackend.Faults
    var blobs: [BackendKey: Blob] = [:]
    var durable: [BackendKey: Blob] = [:]
    var copies: [String: [UInt8]] = [:]
    var observers: [ObjectIdentifier: @Sendable () -> Void] = [:]
    private(set) var revision: UInt64 = 0
    /// The last revision of each record that has changed, deletions included.
    private var changed: [BackendKey: UInt64] = [:]
    private var deferred: [MemoryCommit] = []
    private var random: SplitMix64
    /// Distinguishes the cursors of instances.
    private let identity = UInt64.random(in: .min ... .max)

    init(seed: UInt64, faults: MemoryBackend.Faults) {
        random = SplitMix64(state: seed)
        self.faults = faults
    }

    mutating func happens(_ probability: Double) -> Bool {
        probability > 0 && Double.random(in: 0..<1, using: &random) < probability
    }

    mutating func apply(_ writes: [BackendWrite], _ durability: Durability) throws(BackendError) {
        for (index, write) in writes.enumerated() where !holds(write.condition, write.key) {
            throw BackendError(
                .conflict, "write", write.key.name, "Another blob is stored than the condition states.", index: index)
        }
        for write in writes {
            switch write.change {
            case .put(let bytes): blobs[write.key] = Blob(bytes: bytes, revision: count(write.key))
            case .remove:
                if blobs.removeValue(forKey: write.key) != nil { _ = count(write.key) }
            case .nothing: continue
            }
            if durability == .durable { durable[write.key] = blobs[write.key] }
        }
    }

    private func holds(_ condition: BackendWrite.Condition, _ key: BackendKey) -> Bool {
        switch condition {
        case .any: true
        case .absent: blobs[key] == nil
        case .version(let version): blobs[key].map { BlobVersion(of: $0.bytes) == version } ?? false
        }
    }

    private mutating func count(_ key: BackendKey) -> UInt64 {
        revision += 1
        changed[key] = revision
        return revision
    }

    mutating func `defer`(_ commit: MemoryCommit) {
        // A third is made at once, with its answer lost.
        if happens(1.0 / 3) { try? apply(commit.writes, commit.durability) } else { deferred.append(commit) }
    }

    /// Makes or drops the commits with an unknown outcome for some records.
    mutating func decideDeferred(_ keys: [BackendKey], mustDecide: Bool) {
        var left: [MemoryCommit] = []
        for commit in deferred {
            let isConcerned = commit.writes.contains { keys.contains($0.key) }
            if !isConcerned || !mustDecide && happens(0.5) {
                left.append(commit)
            } else if happens(0.5) {
                try? apply(commit.writes, commit.durability)
            }
        }
        deferred = left
    }

    mutating func losePower() {
        deferred = []
        for key in Set(blobs.keys).union(durable.keys) where blobs[key]?.revision != durable[key]?.revision {
            blobs[key] = durable[key].map { Blob(bytes: $0.bytes, revision: count(key)) }
            durable[key] = blobs[key]
            if blobs[key] == nil { _ = count(key) }
        }
    }

    mutating func observe(_ changes: MemoryChanges, _ notify: @escaping @Sendable () -> Void) {
        observers[ObjectIdentifier(changes)] = notify
    }

    mutating func news(after last: UInt64, limit: Int) -> (BackendNews, UInt64) {
        if revision > last, happens(faults.resync) {
            return (BackendNews(isResync: true, cursor: cursor(revision)), revision)
        }
        let waiting = changed.filter { $0.value > last }.sorted { $0.value < $1.value }
        let part = waiting.prefix(max(0, limit))
        // Reported once more with the next call.
        let reached = happens(faults.repeatedChange) ? last : part.last?.value ?? last
        return (
            BackendNews(
                keys: part.map(\.key), cursor: cursor(reached), isPartial: reached < revision && !part.isEmpty),
            reached
        )
    }

    private func cursor(_ revision: UInt64) -> BackendCursor {
        BackendCursor(bytes: withUnsafeBytes(of: (identity.littleEndian, revision.littleEndian)) { Array($0) })
    }

    func revision(of cursor: BackendCursor) -> UInt64? {
        guard cursor.bytes.count == 16, cursor.bytes.prefix(8) == self.cursor(0).bytes.prefix(8) else { return nil }
        let known = cursor.bytes.dropFirst(8).reversed().reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
        return known <= revision ? known : nil
    }
}
