internal import FileMonitoring
internal import PropertyLists
internal import SharedFiles
internal import Synchronization

/// Watches every file that a suite's search list reads from, in the container's current location.
///
/// All watches of one `SealedDefaults` raise the same signal: a look is cheap if nothing has changed.
final class DefaultsWatch: Sendable {
    private struct State {
        var registrations: [String: MonitorRegistration] = [:]
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

    private var wanted: Set<String> {
        let files = [defaults.file] + defaults.search.suites
        // The registry's file changes if another container replaces it outside all watched paths.
        return Set(files.map { $0.store.watchedPath(of: $0.place) } + [defaults.file.store.watchedRegistryPath])
    }

    private func watch(_ paths: Set<String>) throws(StoreError) {
        let known = state.withLock { Set($0.registrations.keys) }
        var begun: [String: MonitorRegistration] = [:]
        for path in paths.subtracting(known) { begun[path] = try register(path) }
        // Ended registrations are released outside of the lock.
        let ended = state.withLock { state in
            let ended = state.registrations.filter { !paths.contains($0.key) }
            state.registrations = state.registrations.filter { paths.contains($0.key) }.merging(begun) { old, _ in old }
            return ended
        }
        withExtendedLifetime(ended) {}
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
