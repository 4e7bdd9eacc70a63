internal import SharedFiles

/// One access as asked of one other process. Its presenters go on when this ends, however it ends.
final class PresenterConversation: Sendable {
    private let link: PresenterLink

    private init(_ link: PresenterLink) { self.link = link }

    /// Asks a process's presenters to make way, and waits until they have.
    ///
    /// - Returns: nil where the process is dead, or is nobody who may be asked.
    /// - Throws: `presenterTimeout`, `presenterFailed`, `cancelled`.
    static func begin(
        with registration: PresenterRegistration, in domain: CoordinationDomain, _ message: PresenterMessage,
        _ limit: WaitLimit, _ path: String
    ) throws(FileError) -> PresenterConversation? {
        while true {
            switch try connect(to: registration, in: domain, limit, path) {
            case .gone:
                PresenterRegistration.remove(registration.name, in: domain)
                return nil
            case .foreign: return nil
            case .busy: throw .presenterTimeout(path, process: registration.process)
            case .open(let link):
                let conversation = PresenterConversation(link)
                if try conversation.ask(message, limit, path) { return conversation }
                if limit.isOver { throw .presenterFailed(path, process: link.peer.process, reason: nil) }
            }
            // It hung up: about to end, so that nobody listens in a moment, or it has too many to talk to.
            pause(limit.tick)
        }
    }

    /// Tells a process what has happened; who can't be reached at once misses it.
    static func tell(_ events: [ItemEvent], _ registration: PresenterRegistration, in domain: CoordinationDomain) {
        let name = registration.name + PresenterRegistration.socketSuffix
        guard case .open(let link)? = try? PresenterSocket.connect(to: name, in: domain) else { return }
        PresenterConversation(link).tell(events)
    }

    func tell(_ events: [ItemEvent]) {
        // As many as fit in a message whatever their paths.
        let step = PresenterMessage.maximumSize / (2 * (ItemPath.maximumLength + 16))
        for start in stride(from: 0, to: events.count, by: step) {
            _ = link.send(.events(Array(events[start..<min(start + step, events.count)])))
        }
    }

    private static func connect(
        to registration: PresenterRegistration, in domain: CoordinationDomain, _ limit: WaitLimit, _ path: String
    ) throws(FileError) -> PresenterSocket.Connection {
        let name = registration.name + PresenterRegistration.socketSuffix
        while true {
            try limit.requireWanted(path)
            let connection = try PresenterSocket.connect(to: name, in: domain)
            guard case .busy = connection, !limit.isOver else { return connection }
            pause(limit.tick)
        }
    }

    /// - Returns: false when the connection broke.
    private func ask(
        _ message: PresenterMessage, _ limit: WaitLimit, _ path: String
    ) throws(FileError) -> Bool {
        guard link.send(message) else { return false }
        while true {
            try limit.requireWanted(path)
            switch link.receive() {
            case .message(.ready): return true
            case .message(.failed(let reason)):
                throw .presenterFailed(path, process: link.peer.process, reason: reason)
            case .message, .ended: return false
            case .nothingYet:
                if limit.isOver { throw .presenterTimeout(path, process: link.peer.process) }
                PresenterSocket.awaitMessage(link.socket.rawValue, limit.tick)
            }
        }
    }
}

/// Until when somebody waits, and whether it still wants to.
///
/// Measured like every lock's limit, on a clock that stands still while the machine sleeps.
struct WaitLimit: Sendable {
    private let start: SuspendingClock.Instant
    private let deadline: SuspendingClock.Instant
    let isCancelled: @Sendable () -> Bool

    init(_ timeout: Duration, isCancelled: @escaping @Sendable () -> Bool) {
        start = SuspendingClock.now
        deadline = start + timeout
        self.isCancelled = isCancelled
    }

    private init(_ other: WaitLimit, atLeast time: Duration) {
        start = other.start
        deadline = max(other.deadline, start + time)
        isCancelled = other.isCancelled
    }

    /// The least time that presenters get. They answer in a round trip between processes at best, so with less no access
    /// would ever succeed where anybody presents the item.
    static let presenterFloor = Duration.milliseconds(250)

    /// Until when presenters are waited for.
    var forPresenters: WaitLimit { WaitLimit(self, atLeast: Self.presenterFloor) }

    var remaining: Duration { max(.zero, deadline - SuspendingClock.now) }
    var isOver: Bool { remaining == .zero }

    /// How long to wait before asking `isCancelled` again.
    var tick: Duration { min(.milliseconds(10), remaining) }

    /// - Throws: `cancelled`, `presenterTimeout`.
    func requireTimeForPresenters(_ directory: String) throws(FileError) {
        try requireWanted(directory)
        if isOver { throw .presenterSearchTimeout(directory) }
    }

    /// - Throws: `cancelled`.
    func requireWanted(_ path: String) throws(FileError) {
        if isCancelled() { throw FileError(.cancelled, operation: "coordinate", path: path) }
    }
}
