internal import SharedFiles

/// A request for one access to one other process. The presenters continue when the connection ends for any reason.
final class PresenterConversation: Sendable {
    private let link: PresenterLink

    private init(_ link: PresenterLink) { self.link = link }

    /// Asks a process's presenters to relinquish the items, and waits until they have.
    ///
    /// - Returns: nil if the process is dead or not trusted.
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
            // The peer closed the connection: it is about to end, or it has too many connections.
            pause(limit.tick)
        }
    }

    /// Notifies a process of events. A process that can't be reached immediately misses them.
    static func notify(_ events: [ItemEvent], _ registration: PresenterRegistration, in domain: CoordinationDomain) {
        let name = registration.name + PresenterRegistration.socketSuffix
        guard case .open(let link)? = try? PresenterSocket.connect(to: name, in: domain) else { return }
        PresenterConversation(link).notify(events)
    }

    func notify(_ events: [ItemEvent]) {
        // The number of events that fit in a message with paths of any length.
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

    /// - Returns: `false` if the connection broke.
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

/// The time limit of a wait, and its cancellation.
///
/// The limit is measured like every lock's limit, on a clock that stops while the machine sleeps.
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

    /// The minimum time for presenters. An answer takes a round trip between processes, so with less time no access to
    /// a presented item would ever succeed.
    static let presenterFloor = Duration.milliseconds(250)

    /// The limit for waiting for presenters.
    var forPresenters: WaitLimit { WaitLimit(self, atLeast: Self.presenterFloor) }

    var remaining: Duration { max(.zero, deadline - SuspendingClock.now) }
    var isOver: Bool { remaining == .zero }

    /// The time to wait before checking `isCancelled` again.
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
