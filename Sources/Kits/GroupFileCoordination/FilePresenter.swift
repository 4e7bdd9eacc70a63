public import Dispatch
public import SharedFiles

/// An object that shows or edits a file or directory and wants a say when somebody else reads or writes it.
///
/// It is told once `FileCoordinator.addFilePresenter` has returned, of what coordinators of the same
/// `CoordinationDomain` do in this process and in others, never of what a coordinator does that was made with it. All
/// calls come one after another on its queue. Every method has a default that agrees to everything and does nothing.
///
/// Whoever waits for an answer does so up to its time limit and is then refused: answer each closure exactly once, soon, and
/// do not wait in a method for anybody who could be waiting for this presenter.
/// While it is busy at most 32 notices wait for it: beyond that they become one `presentedItemDidChange`, and its moves the
/// last one. What it is asked comes before notices. A presenter that gave way waits for the other access without a limit.
public protocol FilePresenter: AnyObject, Sendable {
    /// The item's absolute path; nil while there is none yet. Asked on any thread: when it is added, after each move, and after
    /// each write of a coordinator that was made with this presenter.
    var presentedItemPath: String? { get }

    /// Where calls run; nil for a queue of its own. One that runs several blocks at once still gets one call at a time.
    var presentedItemQueue: DispatchQueue? { get }

    /// Somebody wants to read the item. Stop writing it, then call `reader` with a closure to be called when the reader is
    /// done, or with nil.
    func relinquishPresentedItem(toReader reader: @escaping @Sendable (_ reacquirer: (@Sendable () -> Void)?) -> Void)

    /// Somebody wants to write, move or delete the item. Stop using it, then call `writer` with a closure to be called when the
    /// writer is done, or with nil.
    func relinquishPresentedItem(toWriter writer: @escaping @Sendable (_ reacquirer: (@Sendable () -> Void)?) -> Void)

    /// Somebody is about to read the item, or to merge changes into it: write what is unsaved, through a coordinator made
    /// with this presenter, then call `completion`. An error refuses the other's access.
    func savePresentedItemChanges(completion: @escaping @Sendable (FileError?) -> Void)

    /// The item, or a directory that it lies in, is about to be deleted or replaced: close it, then call `completion`. An
    /// error refuses that.
    func accommodatePresentedItemDeletion(completion: @escaping @Sendable (FileError?) -> Void)

    /// The item was moved; present it there from now on, so that `presentedItemPath` says so when this returns.
    func presentedItemDidMove(to newPath: String)

    /// The item's content or attributes have changed, or may have. Also for changes by programs that do not coordinate.
    func presentedItemDidChange()

    /// An item in the presented directory, at any depth, is about to be deleted or replaced. An error refuses that.
    func accommodatePresentedSubitemDeletion(at path: String, completion: @escaping @Sendable (FileError?) -> Void)

    /// An item has come to be in the presented directory.
    func presentedSubitemDidAppear(at path: String)

    /// An item in the presented directory was moved, perhaps out of it.
    func presentedSubitem(at oldPath: String, didMoveTo newPath: String)

    /// An item in the presented directory has changed or is gone.
    func presentedSubitemDidChange(at path: String)
}

extension FilePresenter {
    /// A queue of its own.
    public var presentedItemQueue: DispatchQueue? { nil }

    /// Agrees at once.
    public func relinquishPresentedItem(
        toReader reader: @escaping @Sendable (_ reacquirer: (@Sendable () -> Void)?) -> Void
    ) { reader(nil) }

    /// Agrees at once.
    public func relinquishPresentedItem(
        toWriter writer: @escaping @Sendable (_ reacquirer: (@Sendable () -> Void)?) -> Void
    ) { writer(nil) }

    /// Has nothing to save.
    public func savePresentedItemChanges(completion: @escaping @Sendable (FileError?) -> Void) { completion(nil) }

    /// Agrees at once.
    public func accommodatePresentedItemDeletion(completion: @escaping @Sendable (FileError?) -> Void) {
        completion(nil)
    }

    /// Does nothing.
    public func presentedItemDidMove(to newPath: String) {}

    /// Does nothing.
    public func presentedItemDidChange() {}

    /// Agrees at once.
    public func accommodatePresentedSubitemDeletion(
        at path: String, completion: @escaping @Sendable (FileError?) -> Void
    ) { completion(nil) }

    /// Does nothing.
    public func presentedSubitemDidAppear(at path: String) {}

    /// Does nothing.
    public func presentedSubitem(at oldPath: String, didMoveTo newPath: String) {}

    /// Does nothing.
    public func presentedSubitemDidChange(at path: String) {}
}
