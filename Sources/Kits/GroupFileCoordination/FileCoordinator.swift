public import SharedFiles
internal import Synchronization

/// Reads and writes files and directories without conflicts with other processes and other parts of this process.
///
/// A coordinated reader waits for coordinated writers of the item; a coordinated writer waits for readers and writers.
/// Both first ask the item's presenters. Coordination binds only programs that use the same `CoordinationDomain`, and
/// grants no permissions. A coordinator is made for one operation, is cheap to make, and can be used from several
/// threads.
///
/// Accesses of one coordinator, and of all coordinators of one presenter in this process, never wait for each other, so
/// they may be nested. Every wait ends: if the time limit expires, the accessor is not called.
public final class FileCoordinator: Sendable {
    /// The presenter that does the operation; it receives no notices of it.
    public let presenter: (any FilePresenter)?

    /// The default time limit of an access, for presenters and locks together.
    public static let defaultTimeout = Duration.seconds(10)

    private let domain: CoordinationDomain?
    private let state = Mutex(State())

    private struct State {
        var purpose: CoordinationPurpose?
        var isCancelled = false
        var waiting: [UInt64: Task<Result<CoordinatedAccess, FileError>, Never>] = [:]
        var lastWaiting: UInt64 = 0
    }

    /// Creates a coordinator.
    ///
    /// - Parameters:
    ///   - presenter: The presenter that does the operation, if it presents the item.
    ///   - domain: The domain of the coordination; nil for `CoordinationDomain.user()`.
    public init(presenter: (any FilePresenter)? = nil, domain: CoordinationDomain? = nil) {
        self.presenter = presenter
        self.domain = domain
    }

    /// Ends all current and future waiting of this coordinator with `cancelled`. A running accessor continues to its
    /// end.
    public func cancel() {
        let waiting = state.withLock { state in
            state.isCancelled = true
            return Array(state.waiting.values)
        }
        for task in waiting { task.cancel() }
    }

    var isCancelled: Bool { state.withLock { $0.isCancelled } }

    func purpose() throws(FileError) -> CoordinationPurpose {
        try state.withLock { (state) throws(FileError) in
            // The caller reopens a domain that it named; the user's own is looked up again.
            if let purpose = state.purpose, domain != nil || purpose.domain.isInPlace { return purpose }
            let purpose = CoordinationPurpose(presenter, try domain.orUser())
            state.purpose = purpose
            return purpose
        }
    }

    /// - Parameter isTaskCancelled: checked in addition to `cancel`.
    func begin(
        _ intents: [FileAccessIntent], _ timeout: Duration, isTaskCancelled: @escaping @Sendable () -> Bool = { false }
    ) throws(FileError) -> CoordinatedAccess {
        try CoordinatedAccess.begin(intents, purpose(), limit(timeout, isTaskCancelled))
    }

    func limit(_ timeout: Duration, _ isTaskCancelled: @escaping @Sendable () -> Bool = { false }) -> WaitLimit {
        WaitLimit(timeout) { self.isCancelled || isTaskCancelled() }
    }
}

extension FileCoordinator {
    /// `true` if others may wait for this coordinator: it holds a lock or belongs to a presenter.
    var isWaitedFor: Bool { presenter != nil || state.withLock { $0.purpose?.claims.isHolding ?? false } }

    /// Records a task that `cancel` ends.
    ///
    /// - Returns: the task's number, for `stopWaiting`.
    func waits(_ task: Task<Result<CoordinatedAccess, FileError>, Never>) -> UInt64 {
        let (number, isCancelled) = state.withLock { state in
            state.lastWaiting += 1
            state.waiting[state.lastWaiting] = task
            return (state.lastWaiting, state.isCancelled)
        }
        if isCancelled { task.cancel() }
        return number
    }

    func stopWaiting(_ number: UInt64) {
        state.withLock { $0.waiting[number] = nil }
    }
}

extension FileCoordinator {
    /// Adds a presenter, which is from then on notified and asked about its item. A second call has no effect.
    ///
    /// The presenter is retained until it is removed. To miss no change between reading an item and presenting it, add
    /// the presenter within the reading accessor.
    /// - Throws: ``FileError`` if the domain's directory can't be used, or holds too many presenters of this process.
    public static func addFilePresenter(
        _ presenter: any FilePresenter, domain: CoordinationDomain? = nil
    ) throws(FileError) {
        let domain = try domain.orUser()
        try domain.requireInPlace()
        try PresenterPost.add(presenter, in: domain)
    }

    /// Removes a presenter. A call that already runs on the presenter's queue is not waited for. No call begins
    /// afterwards, except that a reacquirer is called when the other access ends.
    public static func removeFilePresenter(_ presenter: any FilePresenter, domain: CoordinationDomain? = nil) {
        guard let domain = try? domain.orUser() else { return }
        PresenterPost.remove(presenter, in: domain)
    }

    /// Returns the presenters of this process.
    public static func filePresenters(domain: CoordinationDomain? = nil) -> [any FilePresenter] {
        guard let domain = try? domain.orUser() else { return [] }
        return PresenterPost.existing(in: domain)?.presenters ?? []
    }
}
