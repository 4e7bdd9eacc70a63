internal import FileMonitoring
internal import FoundationEssentials
internal import SharedFiles

/// One iterator's way from change to change: what it has told of each record, and which ones it is to look at.
struct ChangesObserver: Sendable {
    let told = ToldChanges()
    /// Nil for all that there are and that come.
    let names: [String]?
    var store: SealedStore
    /// Why there is no container to look in; nil where there is one.
    var missing: StoreError?
    /// What was told last of each record.
    var states: [String: RecordLook] = [:]
    /// Records that may be others than what was told of them.
    var waiting: Set<String> = []
    private var tree: RecordTree
    private var files: [MonitorRegistration] = []
    private var registry: MonitorRegistration?
    private var alarm: ClockRegistration?
    /// While an answer hangs on the vault.
    private var vault: MonitorRegistration?
    /// Those of the present state, until each was looked at.
    private var initial: Set<String> = []
    /// The count of changes before the last gathering; nil before the watch has begun.
    private var seen: UInt64?
    /// Where the container lay when its files were last watched.
    private var watchedPath: String?
    /// Whether the last gathering was not complete.
    private var hasFailed = false
    private var pause = ChangesPause()
    private var clock: ClockJumps

    /// Nothing is watched before `begin()`.
    init(_ store: SealedStore, of names: [String]?) {
        self.store = store
        self.names = names
        tree = RecordTree(told)
        clock = ClockJumps(store.options)
    }

    /// Watches first and finds out then what there is, so that no change falls in between. A second call does nothing.
    ///
    /// - Throws: `StoreError` `.watchLimit`, `.file`.
    mutating func begin() throws(StoreError) {
        guard seen == nil else { return }
        let told = told
        let monitor = try StoreError.onWatching(store.group.identifier) { () throws(FileError) in
            try ClockMonitor.shared()
        }
        alarm = monitor.register { told.mark { $0.clock = true } }
        registry = try watch(store.watchedRegistryPath) { told.mark { $0.container = true } }
        let count = told.signal.count
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

    /// Every record that is there or was told of; what is to be watched is where the container is now.
    private mutating func everything() throws(StoreError) -> Set<String> {
        let isElsewhere = watchedPath != store.containerPath
        let found: Set<String>
        if let names {
            if isElsewhere { files = try names.map { name throws(StoreError) in try watchFile(of: name) } }
            found = Set(names)
        } else {
            found = try tree.begin(in: store, isElsewhere: isElsewhere).union(states.keys)
        }
        watchedPath = store.containerPath
        return found
    }

    private func watchFile(of name: String) throws(StoreError) -> MonitorRegistration {
        let path = store.watchedPath(of: try store.places.place(name))
        return try watch(path) { [told] in told.mark { $0.paths.insert(path) } }
    }
}

// From change to change.
extension ChangesObserver {
    /// The next change; nil once the task was cancelled.
    mutating func next() async -> RecordChange? {
        while !Task.isCancelled {
            guard await isBegun() else { continue }
            if let name = waiting.min() {
                waiting.remove(name)
                if let change = await look(at: name) { return change }
                continue
            }
            // Before the gathering: a change during it counts up, and makes for another one.
            let count = told.signal.count
            if seen == count {
                rest()
                await told.signal.wait(beyond: count)
            } else {
                seen = count
                await gather()
            }
        }
        alarm?.ring(in: nil)
        return nil
    }

    /// Tried again until the system lets it begin.
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
        // Of what is gone nothing is kept, but for a record that was asked for.
        states[name] = look.isNothing && names == nil ? nil : look
        if let former, former.mark.isSame(as: look.mark) { return nil }
        if former == nil && look.isNothing && names == nil { return nil }
        return RecordChange(name: name, outcome: look.outcome, isInitial: isInitial)
    }

    /// Turns what was told into records to look at.
    private mutating func gather() async {
        let marks = told.take()
        let former = (store: store, isWhole: missing == nil && !hasFailed)
        do throws(StoreError) {
            store = try store.following()
            missing = nil
            let isSame = store === former.store && former.isWhole
            waiting.formUnion(isSame ? try news(in: marks.paths) : try everything())
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

    private mutating func news(in paths: Set<String>) throws(StoreError) -> Set<String> {
        guard let names else { return try tree.news(in: paths, of: store) }
        return Set(
            names.filter { (try? store.places.place($0)).map { paths.contains(store.watchedPath(of: $0)) } ?? true })
    }

    private mutating func gather(_ marks: ToldChanges.Marks) {
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

    /// Sets the alarm for what the time alone changes, and watches the vault while an answer hangs on it.
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

    /// False where it could not be watched.
    private mutating func followVault() -> Bool {
        guard states.values.contains(where: \.hangsOnVault) else {
            vault = nil
            return true
        }
        if vault != nil { return true }
        vault = try? watch(store.watchedVaultPath) { [told] in told.mark { $0.vault = true } }
        // It may have been unlocked between the look and the beginning of its watch.
        if vault != nil { told.mark { $0.vault = true } }
        return vault != nil
    }
}

/// When something that failed for a passing trouble is tried again: after a second at first, then after twice as long each
/// time.
struct ChangesPause: Sendable {
    private static let longest = 60.0
    private var seconds = 1.0

    mutating func next() -> Double {
        defer { seconds = min(seconds * 2, Self.longest) }
        return seconds
    }
}

/// Tells that somebody has set the clock: it shows another time than the one since the start of the machine would have made
/// of it.
struct ClockJumps: Sendable {
    /// Less is how far clocks are corrected all the time.
    private static let tolerance = 0.25
    private var wall: Date
    private var steady = ContinuousClock.now

    init(_ options: StoreOptions) { wall = options.now() }

    /// Whether it was set since the last call.
    mutating func hasJumped(_ options: StoreOptions) -> Bool {
        let expected = wall + (ContinuousClock.now - steady).seconds
        (wall, steady) = (options.now(), ContinuousClock.now)
        return abs(wall.timeIntervalSince(expected)) > Self.tolerance
    }
}
