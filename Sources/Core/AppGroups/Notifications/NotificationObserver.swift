internal import FileMonitoring
internal import SharedFiles
internal import Synchronization

/// Compares a notification's token with the last one it saw: that tells posts from events that mean nothing, and makes up
/// for events that were lost.
///
/// Why no post is missed: the monitor watches before `begin` reads the first token, and a post writes its token before its
/// event. A post after `begin` therefore has an event that leads to `look`, which finds this post's token or a later one; an
/// event that comes before `begin` is of a post whose token `begin` reads.
final class NotificationObserver: Sendable {
    private let board: NotificationBoard
    private let name: NotificationName
    /// The last token; nil before `begin`. Read and compared under this lock, which nothing else is taken under.
    private let last: Mutex<GroupNotificationToken?> = Mutex(nil)

    init(board: NotificationBoard, name: NotificationName) {
        self.board = board
        self.name = name
    }

    func begin() throws(AppGroupError) {
        try last.withLock { (last) throws(AppGroupError) in last = try board.token(name) }
    }

    /// Whether it is to be told: there was a post since the last look, or may have been. Reads files.
    func look() -> Bool { last.withLock { isPosted(since: &$0) } }

    private func isPosted(since last: inout GroupNotificationToken?) -> Bool {
        guard let seen = last else { return false }
        do throws(AppGroupError) {
            let found = try board.token(name)
            // Gone is not posted; kept, so that the same file moved back is not posted either.
            if found == .none || found == seen { return false }
            last = found
            return true
        } catch {
            return Self.mayHideAPost(error)
        }
    }

    /// What is refused here is refused to posters as well. Everything else, such as a lack of descriptors, may be this
    /// process's trouble alone: better told once too often.
    private static func mayHideAPost(_ error: AppGroupError) -> Bool {
        switch error.code {
        case .notADirectory, .unsafeContainer, .notShared: false
        case .file: error.underlying?.code != .unsafePath && error.underlying?.code != .notRegularFile
        default: true
        }
    }
}

/// Tells of changes near a notification's file, in whatever container the group has by then.
final class NotificationWatch: Sendable {
    private struct State {
        var path = ""
        var file: MonitorRegistration?
        var registry: MonitorRegistration?
        var isEnded = false
    }

    private let board: NotificationBoard
    private let name: NotificationName
    private let tell: @Sendable () -> Void
    private let state = Mutex(State())

    init(_ board: NotificationBoard, _ name: NotificationName, _ tell: @escaping @Sendable () -> Void) {
        self.board = board
        self.name = name
        self.tell = tell
    }

    /// The registry first: a container that takes the place of another one after this has its event.
    func begin() throws(FileError) {
        let registry = try FileMonitor.shared.watch(board.registryPath) { [tell] _ in tell() }
        state.withLock { $0.registry = registry }
        try move(to: board.path(name))
    }

    /// Watches where the file lies by now. Where that fails, as for a lack of watches, the next event tries again.
    func follow() {
        let path = board.path(name)
        if state.withLock({ $0.path == path || $0.isEnded }) { return }
        try? move(to: path)
    }

    private func move(to path: String) throws(FileError) {
        let file = try FileMonitor.shared.watch(path) { [tell] _ in tell() }
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
