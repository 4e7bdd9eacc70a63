public import Dispatch
public import SharedFiles

/// An object that shows or edits a file or directory and takes part when others read or write it.
///
/// Once `FileCoordinator.addFilePresenter` has returned, the presenter is notified of the accesses of all coordinators
/// of the same `CoordinationDomain`, in this process and in others, except of coordinators made with this presenter.
/// All calls arrive one after another on its queue. Every method has a default that agrees and does nothing else.
///
/// A coordinator waits for an answer up to its time limit, and its access then fails. Call each closure exactly once
/// and soon, and do not wait in a method for code that could be waiting for this presenter. While the presenter is
/// busy, at most 32 notices wait for it. Further ones become one `presentedItemDidChange` and the last move. Requests
/// precede notices. A presenter that relinquished its item waits for the other access without a limit.
public protocol FilePresenter: AnyObject, Sendable {
    /// The item's absolute path; nil if it has no path yet. Read on any thread: when the presenter is added, after each
    /// move, and after each write of a coordinator that was made with this presenter.
    var presentedItemPath: String? { get }

    /// The queue for the calls; nil for a private queue. A concurrent queue still gets one call at a time.
    var presentedItemQueue: DispatchQueue? { get }

    /// Relinquishes the item to a reader. Stop writing it, then call `reader` with nil or with a closure that is called
    /// when the reader is done.
    func relinquishPresentedItem(toReader reader: @escaping @Sendable (_ reacquirer: (@Sendable () -> Void)?) -> Void)

    /// Relinquishes the item to a writer that will write, move or delete it. Stop using it, then call `writer` with nil
    /// or with a closure that is called when the writer is done.
    func relinquishPresentedItem(toWriter writer: @escaping @Sendable (_ reacquirer: (@Sendable () -> Void)?) -> Void)

    /// Saves unsaved changes before the item is read or merged into: write them through a coordinator made with this
    /// presenter, then call `completion`. An error refuses the other access.
    func savePresentedItemChanges(completion: @escaping @Sendable (FileError?) -> Void)

    /// Prepares for the deletion or replacement of the item or a directory that contains it: close the item, then call
    /// `completion`. An error refuses the deletion.
    func accommodatePresentedItemDeletion(completion: @escaping @Sendable (FileError?) -> Void)

    /// Reports that the item was moved. `presentedItemPath` must return the new path when this returns.
    func presentedItemDidMove(to newPath: String)

    /// Reports that the item's content or attributes may have changed, also through programs that do not coordinate.
    func presentedItemDidChange()

    /// Prepares for the deletion or replacement of an item in the presented directory, at any depth. An error refuses
    /// it.
    func accommodatePresentedSubitemDeletion(at path: String, completion: @escaping @Sendable (FileError?) -> Void)

    /// Reports that an item appeared in the presented directory.
    func presentedSubitemDidAppear(at path: String)

    /// Reports that an item in the presented directory was moved, possibly out of it.
    func presentedSubitem(at oldPath: String, didMoveTo newPath: String)

    /// Reports that an item in the presented directory has changed or was removed.
    func presentedSubitemDidChange(at path: String)
}

extension FilePresenter {
    /// No queue: the presenter gets a private one.
    public var presentedItemQueue: DispatchQueue? { nil }

    /// Agrees immediately.
    public func relinquishPresentedItem(
        toReader reader: @escaping @Sendable (_ reacquirer: (@Sendable () -> Void)?) -> Void
    ) { reader(nil) }

    /// Agrees immediately.
    public func relinquishPresentedItem(
        toWriter writer: @escaping @Sendable (_ reacquirer: (@Sendable () -> Void)?) -> Void
    ) { writer(nil) }

    /// Saves nothing.
    public func savePresentedItemChanges(completion: @escaping @Sendable (FileError?) -> Void) { completion(nil) }

    /// Agrees immediately.
    public func accommodatePresentedItemDeletion(completion: @escaping @Sendable (FileError?) -> Void) {
        completion(nil)
    }

    /// Does nothing.
    public func presentedItemDidMove(to newPath: String) {}

    /// Does nothing.
    public func presentedItemDidChange() {}

    /// Agrees immediately.
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
