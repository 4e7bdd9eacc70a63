internal import Dispatch
internal import FileMonitoring
internal import SharedFiles
internal import Synchronization

/// A presenter that was added to a domain, with the known state of its item.
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
        // A private serial queue that targets the presenter's queue, which may be concurrent.
        queue = DispatchQueue(label: "GroupFileCoordination.presenter", target: presenter.presentedItemQueue)
    }

    var path: ItemPath? { state.withLock { $0.path } }

    /// Reads the item's path from the presenter, and marks the current version there as known.
    ///
    /// - Returns: whether the path has changed.
    @discardableResult
    func refresh() -> Bool {
        let path = presenter.presentedItemPath.flatMap { try? ItemPath($0) }
        let stamp = path.flatMap { FileStamp($0) }
        return state.withLock { state in
            defer { (state.path, state.settled) = (path, stamp) }
            return state.path != path
        }
    }

    /// Marks the current version at its path as known: the presenter is being notified of it or has written it.
    func settle() {
        let stamp = path.flatMap { FileStamp($0) }
        state.withLock { $0.settled = stamp }
    }

    /// The version that the presenter knows; nil if it knows that the item does not exist.
    var settled: FileStamp? { state.withLock { $0.settled } }

    /// `true` if the current version differs from the one that the presenter knows.
    var isUnsettled: Bool {
        let (path, settled) = state.withLock { ($0.path, $0.settled) }
        guard let path else { return false }
        return FileStamp(path) != settled
    }

    /// Ends all notices to the presenter.
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
    /// Runs a request on the presenter's queue, also after the presenter's removal, since an access waits for it.
    ///
    /// - Parameter owner: the object that may withdraw the request.
    func request(of owner: AnyObject, _ body: @escaping @Sendable () -> Void) {
        add(.request(body, of: ObjectIdentifier(owner)))
    }

    /// Withdraws requests that have not begun.
    func withdrawRequests(of owner: AnyObject) {
        state.withLock { $0.inbox.withdraw(ObjectIdentifier(owner)) }
    }

    /// Runs a reacquirer on the presenter's queue after all earlier notices, also after the presenter's removal.
    func reacquire(_ body: @escaping @Sendable () -> Void) { add(.reacquirer(body)) }

    private func add(_ entry: PresenterInbox.Entry) {
        if state.withLock({ $0.inbox.add(entry) }) { queue.async { self.takeNext() } }
    }

    /// Takes one entry at a time, since the presenter's queue may be shared.
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
    /// Notifies the presenter of an event.
    func notify(_ notice: ItemEvent.Notice, moved: @escaping @Sendable () -> Void) {
        if case .moved(let new) = notice { state.withLock { ($0.path, $0.onMove) = (new, moved) } }
        if notice == .changed || notice.isMove { settle() }
        add(.notice(notice))
    }

    func notifyChange() {
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

/// The version of an item. Two versions of one size that are written in place within a tick of the file system's clock
/// have the same stamp.
struct FileStamp: Sendable, Hashable {
    private let facts: FileAttributes

    /// Returns `nil` if the path does not exist.
    init?(_ path: ItemPath) {
        guard let facts = path.attributes else { return nil }
        self.facts = facts
    }
}

/// Notices of changes by programs that do not coordinate, as far as the file monitor detects them.
extension PresenterRecord {
    private static let queue = DispatchQueue(label: "GroupFileCoordination.presenter.watch")

    /// Watches the item's path and ends the watch of an earlier path.
    ///
    /// - Throws: `watchLimit`, `tooManyOpenFiles`.
    func watch(in domain: CoordinationDomain) throws(FileError) {
        guard let path else { return replaceWatch(nil) }
        let watch = try FileMonitor.shared.watch(path.string) { [weak self] _ in
            guard let self else { return }
            // Not on the monitor's thread: a presenter's path may be on a slow file system.
            Self.queue.async { self.look(in: domain) }
        }
        replaceWatch(watch)
        // For changes between the last check and the start of the watch.
        Self.queue.async { self.look(in: domain) }
    }

    private func look(in domain: CoordinationDomain) {
        if !isRemoved && hasNews(in: domain) { notifyChange() }
    }

    /// Returns whether there is a version that the presenter does not know and that its own coordinators did not write.
    ///
    /// A coordinator settles its presenter before it releases its claim. The claim is therefore checked after the
    /// version was read, and the settled version after that: a write in between has changed one of the two.
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
