internal import Dispatch
internal import FileMonitoring
internal import SharedFiles
internal import Synchronization

/// A presenter that was added to a domain, and what is known of its item.
final class PresenterRecord: Sendable {
    let id: UInt64
    let presenter: any FilePresenter
    private let queue: DispatchQueue
    private let state = Mutex(State())

    private struct State {
        var path: ItemPath?
        var settled: FileStamp?
        var isRemoved = false
        var inbox = PresenterInbox()
        var onMove: (@Sendable () -> Void)?
        var watch: MonitorRegistration?
    }

    init(_ presenter: any FilePresenter) {
        id = .random(in: .min ... .max)
        self.presenter = presenter
        // A serial queue of ours on top of the presenter's, which may run several blocks at once.
        queue = DispatchQueue(label: "GroupFileCoordination.presenter", target: presenter.presentedItemQueue)
    }

    var path: ItemPath? { state.withLock { $0.path } }

    /// Asks the presenter where its item is, and takes what is there now for known to it.
    ///
    /// - Returns: whether the path is another one than before.
    @discardableResult
    func refresh() -> Bool {
        let path = presenter.presentedItemPath.flatMap { try? ItemPath($0) }
        let stamp = path.flatMap { FileStamp($0) }
        return state.withLock { state in
            defer { (state.path, state.settled) = (path, stamp) }
            return state.path != path
        }
    }

    /// Takes what is at its path now for known to the presenter: it is being told, or has written it itself.
    func settle() {
        let stamp = path.flatMap { FileStamp($0) }
        state.withLock { $0.settled = stamp }
    }

    /// The version that the presenter knows; nil where it knows that there is nothing.
    var settled: FileStamp? { state.withLock { $0.settled } }

    /// Whether something else is there now than what the presenter knows.
    var isUnsettled: Bool {
        let (path, settled) = state.withLock { ($0.path, $0.settled) }
        guard let path else { return false }
        return FileStamp(path) != settled
    }

    /// The presenter hears nothing more.
    func retire() {
        state.withLock { state in
            state.isRemoved = true
            state.onMove = nil
            state.inbox.dropNotices()
        }
        replaceWatch(nil)
    }

    func replaceWatch(_ watch: MonitorRegistration?) {
        let old = state.withLock { state in
            defer { state.watch = state.isRemoved ? nil : watch }
            return state.watch
        }
        old?.cancel()
    }

    var isRemoved: Bool { state.withLock { $0.isRemoved } }
}

extension PresenterRecord {
    /// Runs on the presenter's queue, also after its removal: somebody waits for it.
    ///
    /// - Parameter owner: who may take it back.
    func request(of owner: AnyObject, _ body: @escaping @Sendable () -> Void) {
        add(.request(body, of: ObjectIdentifier(owner)))
    }

    /// Takes back what was requested and has not begun.
    func withdrawRequests(of owner: AnyObject) {
        state.withLock { $0.inbox.withdraw(ObjectIdentifier(owner)) }
    }

    /// Runs on the presenter's queue after what it was told before, also after its removal.
    func reacquire(_ body: @escaping @Sendable () -> Void) { add(.reacquirer(body)) }

    private func add(_ entry: PresenterInbox.Entry) {
        if state.withLock({ $0.inbox.add(entry) }) { queue.async { self.takeNext() } }
    }

    /// One at a time: the presenter's queue may be that of others as well.
    private func takeNext() {
        guard let entry = state.withLock({ $0.inbox.next() }) else { return }
        switch entry {
        case .request(let body, _), .reacquirer(let body): body()
        case .notice(let notice): if !isRemoved { deliver(notice) }
        }
        queue.async { self.takeNext() }
    }
}

extension PresenterRecord {
    /// Tells the presenter what has happened.
    func tell(_ notice: ItemEvent.Notice, moved: @escaping @Sendable () -> Void) {
        if case .moved(let new) = notice { state.withLock { ($0.path, $0.onMove) = (new, moved) } }
        if notice == .changed || notice.isMove { settle() }
        add(.notice(notice))
    }

    func tellChange() {
        settle()
        add(.notice(.changed))
    }

    private func deliver(_ notice: ItemEvent.Notice) {
        switch notice {
        case .changed: presenter.presentedItemDidChange()
        case .moved(let new):
            presenter.presentedItemDidMove(to: new.string)
            state.withLock { state in
                defer { state.onMove = nil }
                return state.onMove
            }?()
        case .subitemChanged(let item): presenter.presentedSubitemDidChange(at: item.string)
        case .subitemAppeared(let item): presenter.presentedSubitemDidAppear(at: item.string)
        case .subitemMoved(let old, let new): presenter.presentedSubitem(at: old.string, didMoveTo: new.string)
        }
    }
}

/// Which version of an item was there. Two versions of one size within a tick of the file system's clock, written in place,
/// have the same stamp.
struct FileStamp: Sendable, Hashable {
    private let facts: FileAttributes

    /// Nil where nothing has that path.
    init?(_ path: ItemPath) {
        guard let facts = path.attributes else { return nil }
        self.facts = facts
    }
}

/// Changes by programs that do not coordinate, as far as the file monitor sees them.
extension PresenterRecord {
    private static let queue = DispatchQueue(label: "GroupFileCoordination.presenter.watch")

    /// Watches the item's path; a path that was watched before no more.
    ///
    /// - Throws: `watchLimit`, `tooManyOpenFiles`.
    func watch(in domain: CoordinationDomain) throws(FileError) {
        guard let path else { return replaceWatch(nil) }
        let watch = try FileMonitor.shared.watch(path.string) { [weak self] _ in
            guard let self else { return }
            // Not on the monitor's thread: a presenter's path may lie on a slow file system.
            Self.queue.async { self.look(in: domain) }
        }
        replaceWatch(watch)
        // What happened between the last look and the beginning of the watch.
        Self.queue.async { self.look(in: domain) }
    }

    private func look(in domain: CoordinationDomain) {
        if !isRemoved && hasNews(in: domain) { tellChange() }
    }

    /// Whether there is another version than the presenter knows, which is not its own coordinators' work.
    ///
    /// A coordinator settles its presenter before it lets go of its claim. So the claim is asked for after the version was
    /// taken, and what is settled after that: whoever wrote in between has changed one of the two.
    private func hasNews(in domain: CoordinationDomain) -> Bool {
        while true {
            let known = settled
            guard let path else { return false }
            let found = FileStamp(path)
            if Purposes.existing(of: presenter, in: domain)?.isWriting(path) == true { return false }
            if known == settled { return found != known }
        }
    }
}
