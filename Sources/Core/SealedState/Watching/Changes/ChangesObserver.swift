internal import FileMonitoring
internal import FoundationEssentials
internal import SealedBackends
internal import SharedFiles

/// The state of one iterator: its last report of each record, and the records to look at.
struct ChangesObserver: Sendable {
    let pending = PendingChanges()
    /// The watched names; nil for all present and future records of the part.
    let names: [String]?
    private let part: ObservedPart
    var store: SealedStore
    /// The reason why there is no container; nil if there is one.
    var missing: StoreError?
    /// The last report of each record.
    var states: [String: RecordObservation] = [:]
    /// Records that may have changed since their last report.
    var waiting: Set<String> = []
    private var tree: RecordTree
    /// The watches of records, or of the whole backend.
    private var records: [any Sendable] = []
    private var registry: MonitorRegistration?
    private var alarm: ClockRegistration?
    /// Present while an answer depends on the vault.
    private var vault: MonitorRegistration?
    /// The records of the initial state that were not looked at yet.
    private var initial: Set<String> = []
    /// The count of changes before the last gathering; nil before the watch has started.
    private var seen: UInt64?
    /// The container's path when its files were last watched.
    private var watchedPath: String?
    private var watchesFiles = false
    /// The last gathering was not complete.
    private var hasFailed = false
    private var pause = ChangesPause()
    private var clock: ClockJumps

    /// Nothing is watched before `begin()`.
    init(_ store: SealedStore, of names: [String]?, _ part: ObservedPart) {
        self.store = store
        self.names = names
        self.part = part
        tree = RecordTree(pending, of: part)
        clock = ClockJumps(store.options)
    }

    /// Starts watching and then lists the records, so that no change is missed in between. A second call does nothing.
    ///
    /// - Throws: `StoreError` `.watchLimit`, `.file`.
    mutating func begin() throws(StoreError) {
        guard seen == nil else { return }
        store = (try? store.following()) ?? store
        let pending = pending
        let monitor = try StoreError.onWatching(store.group.identifier) { () throws(FileError) in
            try ClockMonitor.shared()
        }
        alarm = monitor.register { pending.mark { $0.clock = true } }
        registry = try watch(store.watchedRegistryPath) { pending.mark { $0.container = true } }
        let count = pending.signal.count
        waiting = try everything()
        initial = waiting
        seen = count
    }

    private func watch(
        _ path: String, _ handler: @escaping @Sendable () -> Void
    ) throws(StoreError) -> MonitorRegistration {
        try StoreError.onWatching(path) { () throws(FileError) in try FileMonitor.shared.watch(path) { _ in handler() }
        }
    }

    /// Returns every record that is present or was reported; watches the files in the current container.
    private mutating func everything() throws(StoreError) -> Set<String> {
        let isElsewhere = watchedPath != store.containerPath || store.reader.files == nil || !watchesFiles
        let found: Set<String>
        if let names {
            if isElsewhere { records = try names.map { name throws(StoreError) in try watchRecord(name) } }
            found = Set(names)
        } else if store.reader.files == nil {
            if isElsewhere { records = [try watchBackend()] }
            found = try presentNames().union(states.keys)
        } else {
            if isElsewhere {
                records = [try watch(store.watchedBackendPath) { [pending] in pending.mark { $0.container = true } }]
            }
            found = try tree.begin(in: store.container, isElsewhere: isElsewhere).union(states.keys)
        }
        watchedPath = store.containerPath
        watchesFiles = store.reader.files != nil
        return found
    }

    private func watchRecord(_ name: String) throws(StoreError) -> any Sendable {
        try store.watch(try store.places.place(stored: name)) { [pending] in pending.mark { $0.names.insert(name) } }
    }

    private func watchBackend() throws(StoreError) -> any Sendable {
        do throws(StoreError) {
            return try store.reader.watches.watch(nil) { [pending] key in
                pending.mark { marks in
                    if let key { marks.names.insert(key.name) } else { marks.isResync = true }
                }
            }
        } catch {
            guard error.code == .containerMissing else { throw error }
            return try watch(store.watchedBackendPath) { [pending] in pending.mark { $0.container = true } }
        }
    }

    private func presentNames() throws(StoreError) -> Set<String> {
        Set(try store.reader.heads(part.prefix).map(\.key.name).filter(part.includes))
    }
}

// The iteration.
extension ChangesObserver {
    /// Returns the next change; nil once the task was cancelled.
    mutating func next() async -> RecordChange? {
        while !Task.isCancelled {
            guard await isBegun() else { continue }
            if let name = waiting.min() {
                waiting.remove(name)
                if let change = await look(at: name) { return change }
                continue
            }
            // Before the gathering: a change during it increases the count and causes another one.
            let count = pending.signal.count
            if seen == count {
                rest()
                await pending.signal.wait(beyond: count)
            } else {
                seen = count
                await gather()
            }
        }
        alarm?.ring(in: nil)
        return nil
    }

    /// Starts the watch; repeated until the system permits it.
    private mutating func isBegun() async -> Bool {
        do throws(StoreError) {
            try begin()
            return true
        } catch {
            try? await Task.sleep(for: .seconds(pause.next()))
            return false
        }
    }

    private mutating func look(at name: String) async -> RecordChange? {
        let isInitial = initial.remove(name) != nil
        let look = missing.map { store.reader.look(at: name, missing: $0) } ?? store.reader.look(at: name)
        let former = states[name]
        // The state of a missing record is dropped, unless the record was asked for.
        states[name] = look.isNothing && names == nil ? nil : look
        if let former, former.mark.isSame(as: look.mark) { return nil }
        if former == nil && look.isNothing && names == nil { return nil }
        return RecordChange(
            name: String(name.dropFirst(part.prefix.count)), outcome: look.outcome, isInitial: isInitial)
    }

    /// Converts the notifications into records to look at.
    private mutating func gather() async {
        let marks = pending.take()
        let former = (store: store, isWhole: missing == nil && !hasFailed)
        do throws(StoreError) {
            store = try store.following()
            missing = nil
            let isSame = store === former.store && former.isWhole
            waiting.formUnion(isSame ? try news(marks) : try everything())
            hasFailed = false
        } catch {
            hasFailed = true
            if error.code == .containerMissing || error.code == .container {
                missing = error
                waiting.formUnion(states.keys)
            }
        }
        gather(marks)
    }

    private mutating func news(_ marks: PendingChanges.Marks) throws(StoreError) -> Set<String> {
        if names != nil { return marks.names }
        guard store.reader.files == nil else { return try tree.news(in: marks.paths, of: store.container) }
        return marks.isResync ? try presentNames().union(states.keys) : marks.names.filter(part.includes)
    }

    private mutating func gather(_ marks: PendingChanges.Marks) {
        let now = store.options.now()
        let jumped = marks.clock && clock.hasJumped(store.options)
        for (name, look) in states {
            let isDue = look.changesAt.map { $0 <= now } ?? false
            if isDue || (jumped && look.hangsOnClock) || (marks.vault && look.hangsOnVault)
                || (marks.clock && look.mayPass)
            {
                waiting.insert(name)
            }
        }
    }

    /// Sets the alarm for changes by time alone, and watches the vault while an answer depends on it.
    private mutating func rest() {
        let isVaultFollowed = followVault()
        var seconds = states.values.compactMap(\.changesAt).min()
            .map { max(0.02, $0.timeIntervalSince(store.options.now())) }
        let isWaitedFor = missing == nil && (hasFailed || !tree.unlisted.isEmpty)
        if isWaitedFor || !isVaultFollowed || states.values.contains(where: \.mayPass) {
            let retry = pause.next()
            seconds = min(seconds ?? retry, retry)
        } else {
            pause = ChangesPause()
        }
        alarm?.ring(in: seconds)
    }

    /// Watches the vault; returns `false` if that failed.
    private mutating func followVault() -> Bool {
        guard states.values.contains(where: \.hangsOnVault) else {
            vault = nil
            return true
        }
        if vault != nil { return true }
        vault = try? watch(store.watchedVaultPath) { [pending] in pending.mark { $0.vault = true } }
        // The vault may have been unlocked between the look and the start of its watch.
        if vault != nil { pending.mark { $0.vault = true } }
        return vault != nil
    }
}

/// The delay before a temporary failure is retried: one second at first, then doubled each time.
struct ChangesPause: Sendable {
    private static let longest = 60.0
    private var seconds = 1.0

    mutating func next() -> Double {
        defer { seconds = min(seconds * 2, Self.longest) }
        return seconds
    }
}

/// Detects that the clock was set: its time differs from the one expected from the steady clock.
struct ClockJumps: Sendable {
    /// Smaller differences are normal corrections of clocks.
    private static let tolerance = 0.25
    private var wall: Date
    private var steady = ContinuousClock.now

    init(_ options: StoreOptions) { wall = options.now() }

    /// Returns `true` if the clock was set since the last call.
    mutating func hasJumped(_ options: StoreOptions) -> Bool {
        let expected = wall + (ContinuousClock.now - steady).seconds
        (wall, steady) = (options.now(), ContinuousClock.now)
        return abs(wall.timeIntervalSince(expected)) > Self.tolerance
    }
}
