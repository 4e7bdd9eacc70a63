internal import FileMonitoring
internal import PropertyLists
internal import SharedFiles
internal import Synchronization

/// Watches every file that a suite's search list reads from, in the container's current location.
///
/// All watches of one `SealedDefaults` raise the same signal: a look is cheap if nothing has changed.
final class DefaultsWatch: Sendable {
    private struct State {
        /// By a record's place, or the path of a registry's file.
        var registrations: [Target: any Sendable] = [:]
        /// Present while the answer depends on the vault.
        var vault: MonitorRegistration?
        /// The time in seconds until a look that failed temporarily is repeated.
        var pause = shortestPause
    }

    /// The result of a look: every value but those of the arguments, or the reason why there is no answer.
    typealias Finding = Result<[String: PropertyListValue], StoreError>

    private static let shortestPause = 1.0
    private static let longestPause = 60.0

    private let defaults: SealedDefaults
    private let alarm: ClockRegistration
    private let state = Mutex(State())

    /// - Throws: `StoreError` `.watchLimit`, `.file`.
    init(_ defaults: SealedDefaults) throws(StoreError) {
        self.defaults = defaults
        let clock = try StoreError.onWatching(defaults.suite) { () throws(FileError) in try ClockMonitor.shared() }
        alarm = clock.register { [signal = defaults.changed] in signal.raise() }
        try watch(wanted)
    }

    var signal: ChangeSignal { defaults.changed }

    /// Reads the present values. Read the signal's count before: a change after the look increases it.
    ///
    /// Not on the caller's actor: it reads files.
    func look() async -> Finding {
        let finding = settled()
        var again: Double?
        if case .failure(let error) = finding {
            // The vault may have been unlocked between the look and the start of the watch.
            if error.isOfVault, watchVault() { signal.raise() }
            again = error.mayPass || error.code == .notYetValid ? nextPause() : nil
        } else {
            let ended = state.withLock { state in
                state.pause = Self.shortestPause
                return state.vault.take()
            }
            withExtendedLifetime(ended) {}
        }
        alarm.ring(in: again)
        return finding
    }

    /// Returns the result of a look at files that were watched before it.
    private func settled() -> Finding {
        while true {
            let paths = wanted
            do throws(StoreError) {
                try watch(paths)
                let values = try defaults.valuesOfSuites()
                if wanted == paths { return .success(values) }
            } catch {
                if wanted == paths { return .failure(error) }
            }
        }
    }

    /// A suite's record, or a registry's file.
    private struct Target: Hashable {
        let path: String
        /// The store that the record is watched in; nil for a file of its own.
        let file: SuiteFile?
        /// Another store on another container has another backend.
        let store: ObjectIdentifier?

        init(_ file: SuiteFile) {
            let store = file.store
            path = store.watchedPath(of: file.place)
            self.file = file
            self.store = store.reader.files == nil ? ObjectIdentifier(store) : nil
        }

        init(path: String) {
            self.path = path
            file = nil
            store = nil
        }

        static func == (left: Target, right: Target) -> Bool { left.path == right.path && left.store == right.store }

        func hash(into hasher: inout Hasher) {
            hasher.combine(path)
            hasher.combine(store)
        }
    }

    private var wanted: Set<Target> {
        let files = [defaults.file] + defaults.search.suites
        // The registry's file changes if another container replaces it outside all watched paths.
        return Set(files.map { Target($0) } + [Target(path: defaults.file.store.watchedRegistryPath)])
    }

    private func watch(_ targets: Set<Target>) throws(StoreError) {
        let known = state.withLock { Set($0.registrations.keys) }
        var begun: [Target: any Sendable] = [:]
        for target in targets.subtracting(known) { begun[target] = try register(target) }
        // Ended registrations are released outside of the lock.
        let ended = state.withLock { state in
            let ended = state.registrations.filter { !targets.contains($0.key) }
            state.registrations = state.registrations.filter { targets.contains($0.key) }.merging(begun) { old, _ in old
            }
            return ended
        }
        withExtendedLifetime(ended) {}
    }

    private func register(_ target: Target) throws(StoreError) -> any Sendable {
        guard let file = target.file else { return try register(target.path) }
        return try file.store.watch(file.place) { [signal = defaults.changed] in signal.raise() }
    }

    private func register(_ path: String) throws(StoreError) -> MonitorRegistration {
        try StoreError.onWatching(defaults.suite) { () throws(FileError) in
            try FileMonitor.shared.watch(path) { [signal = defaults.changed] _ in signal.raise() }
        }
    }

    /// Starts the watch of the vault; returns `true` if this call started it.
    private func watchVault() -> Bool {
        if state.withLock({ $0.vault != nil }) { return false }
        guard let begun = try? register(defaults.file.store.watchedVaultPath) else { return false }
        state.withLock { $0.vault = begun }
        return true
    }

    private func nextPause() -> Double {
        state.withLock { state in
            defer { state.pause = min(state.pause * 2, Self.longestPause) }
            return state.pause
        }
    }
}
