internal import SharedFiles
internal import Synchronization

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
