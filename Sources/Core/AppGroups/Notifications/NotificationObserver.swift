internal import FileMonitoring
internal import SharedFiles
internal import Synchronization

/// Compares a notification's token with the last one, which distinguishes posts from spurious events and compensates
/// for lost events.
///
/// No post is missed: the monitor watches before `begin` reads the first token, and a post writes its token before its
/// event. A post after `begin` therefore has an event that leads to `look`, which finds this post's token or a later
/// one. An event before `begin` belongs to a post whose token `begin` reads.
final class NotificationObserver: Sendable {
    private let board: NotificationBoard
    private let name: NotificationName
    /// The last token; nil before `begin`. Read and compared under this lock; no other lock is taken under it.
    private let last: Mutex<GroupNotificationToken?> = Mutex(nil)

    init(board: NotificationBoard, name: NotificationName) {
        self.board = board
        self.name = name
    }

    func begin() throws(AppGroupError) {
        try last.withLock { (last) throws(AppGroupError) in last = try board.token(name) }
    }

    /// Returns whether the observer has to be notified: there was, or may have been, a post since the last check. Reads
    /// files.
    func look() -> Bool { last.withLock { isPosted(since: &$0) } }

    private func isPosted(since last: inout GroupNotificationToken?) -> Bool {
        guard let seen = last else { return false }
        do throws(AppGroupError) {
            let found = try board.token(name)
            // A removed file is not a post; the token is kept, so that the same file moved back is not a post either.
            if found == .none || found == seen { return false }
            last = found
            return true
        } catch {
            return Self.mayMissPost(error)
        }
    }

    /// Errors listed here affect posters as well. All others, such as a lack of descriptors, may concern only this
    /// process: a spurious notification is better than a missed one.
    private static func mayMissPost(_ error: AppGroupError) -> Bool {
        switch error.code {
        case .notADirectory, .unsafeContainer, .notShared: false
        case .file: error.underlying?.code != .unsafePath && error.underlying?.code != .notRegularFile
        default: true
        }
    }
}

/// Reports changes near a notification's file, in the group's current container.
final class NotificationWatch: Sendable {
    private struct State {
        var path = ""
        var file: MonitorRegistration?
        var registry: MonitorRegistration?
        var isEnded = false
    }

    private let board: NotificationBoard
    private let name: NotificationName
    private let notify: @Sendable () -> Void
    private let state = Mutex(State())

    init(_ board: NotificationBoard, _ name: NotificationName, _ notify: @escaping @Sendable () -> Void) {
        self.board = board
        self.name = name
        self.notify = notify
    }

    /// Watches the registry first, so that a container that replaces another one after this has its event.
    func begin() throws(FileError) {
        let registry = try FileMonitor.shared.watch(board.registryPath) { [notify] _ in notify() }
        state.withLock { $0.registry = registry }
        try move(to: board.path(name))
    }

    /// Watches the file's current path. If that fails, for example for lack of watches, the next event retries.
    func follow() {
        let path = board.path(name)
        if state.withLock({ $0.path == path || $0.isEnded }) { return }
        try? move(to: path)
    }

    private func move(to path: String) throws(FileError) {
        let file = try FileMonitor.shared.watch(path) { [notify] _ in notify() }
        let superseded = state.withLock { state -> MonitorRegistration? in
            if state.isEnded { return file }
            state.path = path
            return state.file.replaced(by: file)
        }
        superseded?.cancel()
    }

    func cancel() {
        let ended = state.withLock { state in
            state.isEnded = true
            return [state.file.take(), state.registry.take()]
        }
        for registration in ended { registration?.cancel() }
    }
}

extension Optional {
    fileprivate mutating func replaced(by value: Wrapped) -> Wrapped? {
        let old = self
        self = value
        return old
    }
}
