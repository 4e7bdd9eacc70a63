internal import SharedFiles
internal import Synchronization

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
