import Dispatch
import Glibc
import GroupFileCoordination
import SharedFiles
import Synchronization
import TestSupport
import Testing

/// A domain, and a directory with files to coordinate.
final class CoordinationSandbox: Sendable {
    let place: TemporaryDirectory
    let domain: CoordinationDomain

    init() throws {
        place = try TemporaryDirectory()
        try place.directory("items")
        try place.directory("domain")
        domain = try CoordinationDomain(path: place.path("domain"))
    }

    func path(_ relative: String) -> String { place.path("items/" + relative) }

    func coordinator(_ presenter: (any FilePresenter)? = nil) -> FileCoordinator {
        FileCoordinator(presenter: presenter, domain: domain)
    }

    func text(_ relative: String) throws -> String {
        String(decoding: try SystemFile.read(path(relative)), as: UTF8.self)
    }

    func write(_ relative: String, _ text: String) throws { try place.file("items/" + relative, text) }

    /// Starts a child that requests access and holds it until it gets a line.
    func holder(_ access: String, _ relative: String, milliseconds: Int = 60_000) throws -> ChildProcess {
        let words = ["coordinate", place.path("domain"), access, path(relative), "\(milliseconds)"]
        return try ChildProcess("sealed-probe", words)
    }

    /// Starts a child that holds access now.
    func holding(_ access: String, _ relative: String) throws -> ChildProcess {
        let child = try holder(access, relative)
        #expect(try child.readLine() == "held \(path(relative))")
        return child
    }

    /// Starts a child that presents an item now.
    func presenter(_ relative: String, _ manner: String = "") throws -> ChildProcess {
        let child = try ChildProcess("sealed-probe", ["present", place.path("domain"), path(relative), manner])
        #expect(try child.readLine() == "presenting")
        return child
    }

    /// Returns the error's code of an access with that time limit, or `nil` if it was granted.
    func code(
        _ intents: [FileAccessIntent], milliseconds: Int = 0, by coordinator: FileCoordinator? = nil
    ) -> FileError.Code? {
        do throws(FileError) {
            try (coordinator ?? self.coordinator()).coordinate(with: intents, timeout: .milliseconds(milliseconds)) {
                _ in
            }
            return nil
        } catch {
            return error.code
        }
    }

    func code(
        _ intent: FileAccessIntent, milliseconds: Int = 0, by coordinator: FileCoordinator? = nil
    )
        -> FileError.Code?
    {
        code([intent], milliseconds: milliseconds, by: coordinator)
    }
}

/// A presenter that records the messages it gets.
final class NotingPresenter: FilePresenter {
    private let state: Mutex<(path: String?, notes: [String])>
    private let onSave: @Sendable (NotingPresenter) throws(FileError) -> Void
    private let onWriter: @Sendable (NotingPresenter) -> Void
    let presentedItemQueue: DispatchQueue?

    init(
        _ path: String?, queue: DispatchQueue? = nil,
        onSave: @escaping @Sendable (NotingPresenter) throws(FileError) -> Void = { _ in },
        onWriter: @escaping @Sendable (NotingPresenter) -> Void = { _ in }
    ) {
        state = Mutex((path, []))
        self.onSave = onSave
        self.onWriter = onWriter
        presentedItemQueue = queue
    }

    var presentedItemPath: String? {
        get { state.withLock { $0.path } }
        set { state.withLock { $0.path = newValue } }
    }

    var notes: [String] { state.withLock { $0.notes } }

    private func note(_ text: String) { state.withLock { $0.notes.append(text) } }

    /// Waits until it gets that message.
    func wait(for text: String) { while !notes.contains(text) { usleep(1000) } }

    func relinquishPresentedItem(toReader reader: @escaping @Sendable (_ reacquirer: (@Sendable () -> Void)?) -> Void) {
        note("reader")
        reader { self.note("reader done") }
    }

    func relinquishPresentedItem(toWriter writer: @escaping @Sendable (_ reacquirer: (@Sendable () -> Void)?) -> Void) {
        note("writer")
        onWriter(self)
        writer { self.note("writer done") }
    }

    func savePresentedItemChanges(completion: @escaping @Sendable (FileError?) -> Void) {
        note("save")
        do throws(FileError) {
            try onSave(self)
            completion(nil)
        } catch {
            completion(error)
        }
    }

    func accommodatePresentedItemDeletion(completion: @escaping @Sendable (FileError?) -> Void) {
        note("deletion")
        completion(nil)
    }

    func presentedItemDidMove(to newPath: String) {
        presentedItemPath = newPath
        note("moved")
    }

    func presentedItemDidChange() { note("changed") }

    func accommodatePresentedSubitemDeletion(
        at path: String, completion: @escaping @Sendable (FileError?) -> Void
    ) {
        note("subitem deletion")
        completion(nil)
    }

    func presentedSubitemDidAppear(at path: String) { note("appeared") }
    func presentedSubitem(at oldPath: String, didMoveTo newPath: String) { note("subitem moved") }
    func presentedSubitemDidChange(at path: String) { note("subitem changed") }
}
