internal import FileMonitoring
internal import KeyVault
internal import Sealing
internal import SharedFiles
internal import Synchronization

/// A watched record: notified of changes near it, it reads the present state.
final class RecordWatch<Record: SealedRecord>: Sendable {
    /// The result of a look.
    struct Finding: Sendable {
        let outcome: RecordUpdate<Record>.Outcome
        let mark: UpdateMark
        /// The accepted state when the mark was made.
        let accepted: Watermark?
        /// The seconds until it changes by time alone.
        var changesIn: Double?
        /// A change of the vault alone can change the result.
        var hangsOnVault = false
        /// The result may change without a notification: this process, or the system, failed.
        var mayPass = false

        /// The result is a refused blob, possibly with the last good value in its place.
        var isRefusal: Bool { outcome.rejection != nil }
    }

    private struct State {
        var store: SealedStore
        var record: any Sendable
        /// Notifies of a container that replaces the present one outside all watched paths of the record.
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
        clock = try StoreError.onWatching(place.name.text) { () throws(FileError) in try ClockMonitor.shared() }
        let registry = try StoreError.onWatching(place.name.text) { () throws(FileError) in
            try FileMonitor.shared.watch(store.watchedRegistryPath) { _ in signal.raise() }
        }
        let record = try store.watch(place) { signal.raise() }
        state = Mutex(State(store: store, record: record, registry: registry))
    }

    /// Reads the record at its current location. Read the signal's count before: a change after the look increases it.
    ///
    /// Not on the caller's actor: it reads files.
    ///
    /// - Parameter vault: The caller's own watch of the vault, started and ended as the result requires.
    func look(_ vault: VaultWatch) async -> Finding {
        var finding = settled()
        if finding.hangsOnVault {
            // The vault may have been unlocked between the look and the start of its watch.
            if vault.begin(on: self) { finding = settled() }
            if !vault.isRunning { finding.mayPass = true }
        } else {
            vault.end()
        }
        return finding
    }

    /// Returns a look whose mark belongs to the same blob as its result.
    ///
    /// Another thread may accept a newer blob after the look and before the mark is taken: the newer one's own refusal
    /// would then seem to be reported already. The acceptance may also be this look's own, so the look is repeated
    /// once.
    private func settled() -> Finding {
        for _ in 0..<8 {
            let before = accepted(state.withLock { $0.store })
            let finding = read()
            if !finding.isRefusal || before == finding.accepted { return finding }
        }
        // A writer is faster than this look.
        signal.raise()
        return read()
    }

    private func read() -> Finding {
        var store = state.withLock { $0.store }
        do throws(StoreError) {
            store = try follow(store)
            return finding(try store.snapshot(of: Record.self, stored: place.name.text), store)
        } catch {
            var finding = storedFinding(insteadOf: error, store)
            if error.mayPass { finding.mayPass = true }
            return finding
        }
    }

    private func storedFinding(insteadOf error: StoreError, _ store: SealedStore) -> Finding {
        do throws(StoreError) {
            return finding(
                try store.storedSnapshot(of: Record.self, named: place.name.text, insteadOf: error), store)
        } catch {
            // Such as a locked vault: an unlocked one has the value.
            return finding(error, store)
        }
    }

    /// Returns the store on the group's current container.
    private func follow(_ store: SealedStore) throws(StoreError) -> SealedStore {
        let found = try store.following()
        if found === store { return store }
        let isElsewhere =
            found.containerPath != store.containerPath || found.reader.files == nil || store.reader.files == nil
        let record = isElsewhere ? try found.watch(place) { [signal] in signal.raise() } : nil
        state.withLock { state in
            state.store = found
            if let record { state.record = record }
        }
        return found
    }

    /// Starts watching the vault.
    func watchVault() throws(StoreError) -> MonitorRegistration {
        try register(state.withLock { $0.store }.watchedVaultPath)
    }

    private func register(_ path: String) throws(StoreError) -> MonitorRegistration {
        try StoreError.onWatching(place.name.text) { () throws(FileError) in
            try FileMonitor.shared.watch(path) { [signal] _ in signal.raise() }
        }
    }
}

// The interpretation of a look's result.
extension RecordWatch {
    private func finding(_ snapshot: RecordSnapshot<Record>, _ store: SealedStore) -> Finding {
        let accepted = accepted(store)
        let mark = UpdateMark(
            place.context.nameTag, snapshot.provenance, rejection: snapshot.rejection, accepted: accepted)
        return Finding(
            outcome: .value(snapshot), mark: mark, accepted: accepted,
            changesIn: store.reader.secondsToChange(of: snapshot, at: place),
            // A record that needs its user becomes inaccessible when the vault is locked.
            hangsOnVault: Record.protection == .whenUnlocked || store.reader.keys.isProtected(place))
    }

    private func finding(_ error: StoreError, _ store: SealedStore) -> Finding {
        let accepted = accepted(store)
        var finding = Finding(
            outcome: .init(error), mark: UpdateMark(place.context.nameTag, error, accepted: accepted),
            accepted: accepted, mayPass: error.mayPass || store.reader.mayBeCertified(error))
        switch error.code {
        case .absent, .containerMissing: break
        case .notYetValid: finding.changesIn = store.reader.secondsToBeginning(at: place)
        default: finding.hangsOnVault = error.isOfVault
        }
        return finding
    }

    private func accepted(_ store: SealedStore) -> Watermark? { store.watermarks.mark(of: place.context.nameTag) }
}

/// An iterator's watch of the vault, while its answer depends on it: otherwise a change of the vault would wake every
/// watcher of the group. Each iterator has its own: another one's answer may be older or newer, with other
/// dependencies.
final class VaultWatch: Sendable {
    private let registration = Mutex<MonitorRegistration?>(nil)

    var isRunning: Bool { registration.withLock { $0 != nil } }

    /// Starts the watch unless it runs; returns `true` if this call started it. It may fail: the next look then tries
    /// again.
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

/// Wakes the tasks that wait for a change. Changes without a waiter count as one.
final class ChangeSignal: Sendable {
    private struct State {
        /// The number of changes; compared for inequality only.
        var count: UInt64 = 0
        var isFinished = false
        var waiters: [UInt64: CheckedContinuation<Void, Never>] = [:]
        var nextTicket: UInt64 = 0
    }

    private let state = Mutex(State())

    /// The number of changes so far. Read it before reading the watched state: then no change is missed.
    var count: UInt64 { state.withLock { $0.count } }

    /// The signal is finished, so no task may wait any more.
    var isFinished: Bool { state.withLock { $0.isFinished } }

    /// Signals a change.
    func raise() { wakeAll { $0.count &+= 1 } }

    /// Signals the end.
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
                // A cancellation before the waiter was stored found no task to wake.
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
