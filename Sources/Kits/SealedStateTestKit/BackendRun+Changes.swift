internal import Dispatch
internal import SealedBackends
internal import SharedFiles
internal import Synchronization

// Changes, positions in them, and data that are removed.
extension BackendRun {
    mutating func changes() throws {
        let keys = (0..<8).map { BackendKey("c\($0)") }
        let (run, seed) = (self, random.next())
        let follower = Follower(keys, page: 3) { key in
            try run.retrying { try run.other.read(key, limit: .max) }?.bytes
        }
        let changes = try retrying { try other.changes(after: nil) { follower.notify() } }
        // The follower takes news while commits are made: a notification may come too early.
        try Threads().run(2) { number in
            if number == 1 { return try follower.follow(changes) }
            defer { follower.end() }
            var random = SplitMix64(state: seed)
            for round in 0..<12 { try run.change(keys, isRemoving: round > 3, &random, follower) }
        }
        withExtendedLifetime(changes) {}
    }

    /// Changes some records, and waits until the follower has seen their present states.
    private func change(
        _ keys: [BackendKey], isRemoving: Bool, _ random: inout SplitMix64, _ follower: Follower
    ) throws {
        var present: [BackendKey: [UInt8]?] = [:]
        for _ in 0..<Int.random(in: 1...6, using: &random) {
            let key = keys[Int.random(in: 0..<keys.count, using: &random)]
            let isRemoval = isRemoving && Int.random(in: 0..<4, using: &random) == 0
            let new = isRemoval ? nil : blob(using: &random)
            let durability: Durability = Bool.random(using: &random) ? .durable : .unsynced
            if try commit([BackendWrite(key, new.map { .put($0) } ?? .remove)], durability) {
                present.updateValue(new, forKey: key)
            }
        }
        try follower.wait(for: present)
    }

    mutating func cursors() throws {
        let first = try retrying { try backend.changes(after: nil) {} }
        try make([BackendWrite(BackendKey("a"), .put(blob()))])
        let cursor = try position(after: BackendKey("a"), in: first)
        try make([BackendWrite(BackendKey("b"), .put(blob()))])
        for view in [backend, other] {
            guard let cursor else { break }
            let news = try self.news(after: cursor, of: view)
            try require(
                news.isResync || backend.traits.hasDurableCursors && news.keys.contains(BackendKey("b")),
                "The changes after a position were not reported.")
        }
        let foreign = [BackendCursor(bytes: [1, 2, 3])] + [try strangePosition(1), try strangePosition(5)]
        for position in foreign.compactMap({ $0 }) {
            try require(
                try news(after: position, of: backend).isResync,
                "The position of another backend was taken for one of this backend.")
        }
        try undonePosition()
        withExtendedLifetime(first) {}
    }

    private func news(after cursor: BackendCursor, of view: any SealedBackend) throws -> BackendNews {
        let changes = try retrying { try view.changes(after: cursor) {} }
        return try retrying { try changes.next(limit: 100) }
    }

    /// Takes news until a record is reported; returns the position after it.
    private func position(after key: BackendKey, in changes: any BackendChanges) throws -> BackendCursor? {
        let end = ContinuousClock.now + .seconds(10)
        while ContinuousClock.now < end {
            let news = try retrying { try changes.next(limit: 100) }
            if news.isResync || news.keys.contains(key) { return news.cursor }
            pause(.milliseconds(2))
        }
        throw BackendFault(nil, 0, "A change of \(key) was not reported within 10 s.")
    }

    /// Returns the position of another empty backend after some changes.
    private mutating func strangePosition(_ count: Int) throws -> BackendCursor? {
        var stranger = try BackendRun(subject, seed: random.next())
        let changes = try retrying { try stranger.backend.changes(after: nil) {} }
        for number in 0..<count { try stranger.make([BackendWrite(BackendKey("s\(number)"), .put(stranger.blob()))]) }
        return try stranger.position(after: BackendKey("s\(count - 1)"), in: changes)
    }

    /// The changes after a position that a loss of power has undone have other numbers than those that it undid.
    private mutating func undonePosition() throws {
        guard let losePower = subject.losePower, backend.traits.hasDurableCursors else { return }
        var run = try BackendRun(subject, seed: random.next())
        let changes = try retrying { try run.backend.changes(after: nil) {} }
        for name in ["a", "b", "c", "d"] {
            try run.make([BackendWrite(BackendKey(name), .put(run.blob()))], name == "a" ? .durable : .unsynced)
        }
        guard let position = try run.position(after: BackendKey("d"), in: changes) else { return }
        run.backend = try losePower(run.backend)
        let later = ["e", "f", "g", "h", "i"].map { BackendKey($0) }
        for key in later { try run.make([BackendWrite(key, .put(run.blob()))], .durable) }
        let news = try self.news(after: position, of: run.backend)
        try require(
            news.isResync || Set(news.keys).isSuperset(of: later),
            "A position that a loss of power has undone hides the changes since.")
    }

    mutating func removal() throws -> BackendCheck.Outcome {
        guard let removeData = subject.removeData else { return .notTested("The subject cannot remove the data.") }
        try make([BackendWrite(BackendKey("note"), .put(blob()))])
        let changes = try [backend, other].map { view in try retrying { try view.changes(after: nil) {} } }
        try removeData(backend)
        for changes in changes {
            let answer = try code { _ = try changes.next(limit: 100) }
            try require(
                answer == .gone,
                "Changes of data that were removed were answered with \(answer?.rawValue ?? "success"), not gone.")
        }
        return .passed
    }
}

/// A program that follows changes as the store does: it takes news when it is notified, at no other time, and then
/// reads each reported record.
final class Follower: Sendable {
    private struct State {
        /// The last blob that was read of each record; nil inside for none.
        var seen: [BackendKey: [UInt8]?] = [:]
        var isOver = false
    }

    private let keys: [BackendKey]
    private let page: Int
    private let read: @Sendable (BackendKey) throws -> [UInt8]?
    private let notifications = DispatchSemaphore(value: 0)
    private let state = Mutex(State())

    /// - Parameters:
    ///   - keys: The records that may change, none of which has a blob.
    ///   - page: The number of changes that are taken at once.
    init(_ keys: [BackendKey], page: Int, read: @escaping @Sendable (BackendKey) throws -> [UInt8]?) {
        self.keys = keys
        self.page = page
        self.read = read
    }

    func notify() { notifications.signal() }

    /// Ends `follow`.
    func end() {
        state.withLock { $0.isOver = true }
        notify()
    }

    /// Follows the changes until `end`.
    func follow(_ changes: any BackendChanges) throws {
        defer { end() }
        while true {
            notifications.wait()
            // One look serves all notifications so far.
            while notifications.wait(timeout: .now()) == .success {}
            if state.withLock({ $0.isOver }) { return }
            while try take(changes).isPartial {}
        }
    }

    private func take(_ changes: any BackendChanges) throws -> BackendNews {
        let news = try changes.next(limit: page)
        guard news.keys.count <= page, Set(news.keys).count == news.keys.count else {
            throw BackendFault(nil, 0, "A report has a record twice, or more records than were asked for.")
        }
        guard !news.isPartial || news.isResync || !news.keys.isEmpty || news.cursor != nil else {
            throw BackendFault(nil, 0, "A report without changes announces more of them.")
        }
        for key in news.isResync ? keys : news.keys {
            let blob = try read(key)
            _ = state.withLock { $0.seen.updateValue(blob, forKey: key) }
        }
        return news
    }

    /// Waits until the last reading of each record had this blob.
    func wait(for present: [BackendKey: [UInt8]?]) throws {
        let end = ContinuousClock.now + .seconds(10)
        while true {
            let (missing, isOver) = state.withLock { state in
                (present.first { state.seen[$0.key, default: nil] != $0.value }?.key, state.isOver)
            }
            guard let missing, !isOver else { return }
            guard ContinuousClock.now < end else {
                throw BackendFault(
                    nil, 0,
                    "A change of \(missing) was not reported within 10 s, or was not visible when it was reported.")
            }
            pause(.milliseconds(1))
        }
    }
}
