internal import FileMonitoring
internal import KeyVault
internal import Sealing
internal import SharedFiles
internal import Synchronization

/// One watched record: told of changes near it, and looks what has come of them.
final class RecordWatch<Record: SealedRecord>: Sendable {
    /// What a look has found.
    struct Finding: Sendable {
        var outcome: RecordUpdate<Record>.Outcome
        let mark: UpdateMark
        /// The accepted state when the mark was made.
        let accepted: Watermark?
        /// In how many seconds it will be another one by the time alone.
        var changesIn: Double?
        /// Whether it can become another one by a change of the vault alone.
        var hangsOnVault = false
        /// Whether it may become another one without any change that is told: this process, or the system, failed.
        var mayPass = false

        /// Whether it tells of a blob that is refused, be it with the last good value in its place.
        var isRefusal: Bool {
            switch outcome {
            case .value(let snapshot): snapshot.rejection != nil
            case .absent: false
            case .rejected: true
            }
        }
    }

    private struct State {
        var store: SealedStore
        var record: MonitorRegistration
        /// Tells of a container that takes another one's place where no path that is watched for the record leads.
        let registry: MonitorRegistration
    }

    let signal: ChangeSignal
    let clock: ClockMonitor
    private let place: RecordPlace
    private let state: Mutex<State>

    /// - Throws: `StoreError` `.watchLimit`, `.file`.
    init(_ store: SealedStore, _ place: RecordPlace) throws(StoreError) {
        let signal = ChangeSignal()
        self.signal = signal
        self.place = place
        let path = store.watchedPath(of: place)
        clock = try StoreError.onWatching(place.name.text) { () throws(FileError) in try ClockMonitor.shared() }
        let (record, registry) = try StoreError.onWatching(place.name.text) { () throws(FileError) in
            let registry = try FileMonitor.shared.watch(store.watchedRegistryPath) { _ in signal.raise() }
            return (try FileMonitor.shared.watch(path) { _ in signal.raise() }, registry)
        }
        state = Mutex(State(store: store, record: record, registry: registry))
    }

    /// Reads the record where it lies now. Ask the signal's count before: whatever comes after the look counts up.
    ///
    /// Not on the caller's actor: it reads files.
    ///
    /// - Parameter vault: The caller's own watch of the vault, begun and ended as the answer asks for it.
    func look(_ vault: VaultWatch) async -> Finding {
        var finding = settled()
        if finding.hangsOnVault {
            // The vault may have been unlocked between the look and the beginning of its watch.
            if vault.begin(on: self) { finding = settled() }
            if !vault.isRunning { finding.mayPass = true }
        } else {
            vault.end()
        }
        return finding
    }

    /// A look whose mark is of the blob that its answer is about.
    ///
    /// Another thread may accept a newer blob after the look and before the mark is taken: the newer one's own refusal would
    /// then be taken for told. Whether it was this look that accepted one is not known, so it looks once more.
    private func settled() -> Finding {
        for _ in 0..<8 {
            let before = accepted(state.withLock { $0.store })
            let finding = read()
            if !finding.isRefusal || before == finding.accepted { return finding }
        }
        // Somebody writes faster than this looks.
        signal.raise()
        return read()
    }

    private func read() -> Finding {
        var store = state.withLock { $0.store }
        do throws(StoreError) {
            store = try follow(store)
            return finding(try store.snapshot(of: Record.self, named: place.name.text), store)
        } catch {
            return finding(error, store)
        }
    }

    /// The store on the container that has the group's place by now.
    private func follow(_ store: SealedStore) throws(StoreError) -> SealedStore {
        let found = try store.following()
        if found === store { return store }
        let isElsewhere = found.containerPath != store.containerPath
        let record = isElsewhere ? try register(found.watchedPath(of: place)) : nil
        state.withLock { state in
            state.store = found
            if let record { state.record = record }
        }
        return found
    }

    /// Begins watching the vault.
    func watchVault() throws(StoreError) -> MonitorRegistration {
        try register(state.withLock { $0.store }.watchedVaultPath)
    }

    private func register(_ path: String) throws(StoreError) -> MonitorRegistration {
        try StoreError.onWatching(place.name.text) { () throws(FileError) in
            try FileMonitor.shared.watch(path) { [signal] _ in signal.raise() }
        }
    }
}

// What a look's answer means.
extension RecordWatch {
    private func finding(_ snapshot: RecordSnapshot<Record>, _ store: SealedStore) -> Finding {
        let accepted = accepted(store)
        let mark = UpdateMark(
            place.context.nameTag, snapshot.provenance, rejection: snapshot.rejection, accepted: accepted)
        return Finding(
            outcome: .value(snapshot), mark: mark, accepted: accepted,
            changesIn: store.reader.secondsToChange(of: snapshot, at: place),
            // What needs its user goes out of reach when the vault is locked.
            hangsOnVault: Record.protection == .whenUnlocked || store.reader.keys.isProtected(place))
    }

    private func finding(_ error: StoreError, _ store: SealedStore) -> Finding {
        let accepted = accepted(store)
        var finding = Finding(
            outcome: .rejected(error), mark: UpdateMark(place.context.nameTag, error, accepted: accepted),
            accepted: accepted, mayPass: error.mayPass)
        switch error.code {
        case .absent, .containerMissing: finding.outcome = .absent(error)
        case .notYetValid: finding.changesIn = store.reader.secondsToBeginning(at: place)
        default: finding.hangsOnVault = error.isOfVault
        }
        return finding
    }

    private func accepted(_ store: SealedStore) -> Watermark? { store.watermarks.mark(of: place.context.nameTag) }
}

/// One iterator's watch of the vault, while its answer hangs on it: a change of the vault would else wake every watcher of
/// the group. Each iterator has its own: another one's answer may be older or newer, and hang on something else.
final class VaultWatch: Sendable {
    private let registration = Mutex<MonitorRegistration?>(nil)

    var isRunning: Bool { registration.withLock { $0 != nil } }

    /// Begins it unless it runs; true when it has begun with this call. It may fail: then it is tried again at the next
    /// look.
    func begin<Record>(on watch: RecordWatch<Record>) -> Bool {
        if isRunning { return false }
        guard let begun = try? watch.watchVault() else { return false }
        registration.withLock { $0 = begun }
        return true
    }

    func end() {
        let ended = registration.withLock { $0.take() }
        withExtendedLifetime(ended) {}
    }
}

/// Wakes the tasks that wait for a change. However many changes come while nobody waits, they count as one.
final class ChangeSignal: Sendable {
    private struct State {
        /// How many changes there were; compared for being another one only.
        var count: UInt64 = 0
        var isFinished = false
        var waiters: [UInt64: CheckedContinuation<Void, Never>] = [:]
        var nextTicket: UInt64 = 0
    }

    private let state = Mutex(State())

    /// How many changes there were so far. Ask before looking at what may change: then none is missed.
    var count: UInt64 { state.withLock { $0.count } }

    /// Whether nobody is to wait any more.
    var isFinished: Bool { state.withLock { $0.isFinished } }

    /// There was a change.
    func raise() { wakeAll { $0.count &+= 1 } }

    /// Nothing more is to come.
    func finish() { wakeAll { $0.isFinished = true } }

    private func wakeAll(_ change: (inout State) -> Void) {
        let waiters = state.withLock { state in
            change(&state)
            defer { state.waiters = [:] }
            return state.waiters
        }
        for waiter in waiters.values { waiter.resume() }
    }

    /// Waits for a change after that count, the end, or the task's cancellation.
    func wait(beyond seen: UInt64) async {
        let ticket = state.withLock { state in
            state.nextTicket &+= 1
            return state.nextTicket
        }
        await withTaskCancellationHandler {
            await withCheckedContinuation { waiter in
                let isOver = state.withLock { state in
                    if state.isFinished || state.count != seen { return true }
                    state.waiters[ticket] = waiter
                    return false
                }
                if isOver { waiter.resume() }
                // A cancellation that came before the waiter was there found nobody to wake.
                if Task.isCancelled { wake(ticket) }
            }
        } onCancel: {
            wake(ticket)
        }
    }

    private func wake(_ ticket: UInt64) {
        state.withLock { $0.waiters.removeValue(forKey: ticket) }?.resume()
    }
}
