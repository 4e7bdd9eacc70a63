public import SharedFiles
internal import Synchronization

/// Reads and writes files and directories so that other processes, and other parts of this one, do not get in the way.
///
/// A coordinated reader waits for coordinated writers of the item, a writer for readers and writers; both first let the
/// item's presenters make way. It binds only those who coordinate as well, in the same `CoordinationDomain`, and adds nothing
/// to what permissions allow. Made for one operation; cheap to make. Usable from several threads.
///
/// Accesses of one coordinator, and of all coordinators of one presenter in this process, never wait for each other, so
/// they may be nested. Every wait ends: when the time limit is over the accessor is not called.
public final class FileCoordinator: Sendable {
    /// On whose behalf it works: that presenter hears nothing of what this does.
    public let presenter: (any FilePresenter)?

    /// How long an access waits for presenters and locks together, if it does not say.
    public static let defaultTimeout = Duration.seconds(10)

    private let domain: CoordinationDomain?
    private let state = Mutex(State())

    private struct State {
        var purpose: CoordinationPurpose?
        var isCancelled = false
        var waiting: [UInt64: Task<Result<CoordinatedAccess, FileError>, Never>] = [:]
        var lastWaiting: UInt64 = 0
    }

    /// A coordinator.
    ///
    /// - Parameters:
    ///   - presenter: Who does the operation, if it presents the item.
    ///   - domain: Where it meets others; nil for `CoordinationDomain.user()`.
    public init(presenter: (any FilePresenter)? = nil, domain: CoordinationDomain? = nil) {
        self.presenter = presenter
        self.domain = domain
    }

    /// Ends all waiting of this coordinator with `cancelled`, now and from now on. What already runs goes on to its end.
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
            // One that was named is the caller's to open again; the user's own is looked for where it is now.
            if let purpose = state.purpose, domain != nil || purpose.domain.isInPlace { return purpose }
            let purpose = CoordinationPurpose(presenter, try domain.orUser())
            state.purpose = purpose
            return purpose
        }
    }

    /// - Parameter isTaskCancelled: asked besides `cancel`.
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
    /// Whether others may wait for what this does: it holds something, or is a presenter's.
    var isWaitedFor: Bool { presenter != nil || state.withLock { $0.purpose?.claims.isHolding ?? false } }

    /// Notes a task that `cancel` ends.
    ///
    /// - Returns: which one it is, for `waitsNoLonger`.
    func waits(_ task: Task<Result<CoordinatedAccess, FileError>, Never>) -> UInt64 {
        let (number, isCancelled) = state.withLock { state in
            state.lastWaiting += 1
            state.waiting[state.lastWaiting] = task
            return (state.lastWaiting, state.isCancelled)
        }
        if isCancelled { task.cancel() }
        return number
    }

    func waitsNoLonger(_ number: UInt64) {
        state.withLock { $0.waiting[number] = nil }
    }
}

extension FileCoordinator {
    /// From now on the presenter is told and asked about its item. A second time changes nothing.
    ///
    /// The presenter is kept until it is removed. To miss nothing between reading an item and presenting it, add the
    /// presenter within the reading's accessor.
    /// - Throws: ``FileError`` where the domain's directory can't be used, or holds too many presenters of this process.
    public static func addFilePresenter(
        _ presenter: any FilePresenter, domain: CoordinationDomain? = nil
    ) throws(FileError) {
        let domain = try domain.orUser()
        try domain.requireInPlace()
        try PresenterPost.add(presenter, in: domain)
    }

    /// Ends that. A call that is already running on the presenter's queue is not waited for; none begins afterwards, but that
    /// somebody whom it made way for is done.
    public static func removeFilePresenter(_ presenter: any FilePresenter, domain: CoordinationDomain? = nil) {
        guard let domain = try? domain.orUser() else { return }
        PresenterPost.remove(presenter, in: domain)
    }

    /// The presenters of this process.
    public static func filePresenters(domain: CoordinationDomain? = nil) -> [any FilePresenter] {
        guard let domain = try? domain.orUser() else { return [] }
        return PresenterPost.existing(in: domain)?.presenters ?? []
    }
}
