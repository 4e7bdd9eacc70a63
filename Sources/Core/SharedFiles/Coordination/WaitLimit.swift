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
