internal import Glibc
internal import SharedFiles

/// A granted access: the locked items and the presenters to notify at its end.
final class CoordinatedAccess: Sendable {
    /// The items' current paths, in the order of the intents.
    let paths: [String]
    private let items: [Item]
    private let slots: ItemSlots
    private let purpose: CoordinationPurpose
    private let conversations: PresenterConversations
    private let id: UInt64

    struct Item: Sendable {
        var path: ItemPath
        let access: FileAccessIntent.Access
        var existed = false

        init(_ intent: FileAccessIntent) throws(FileError) {
            access = intent.access
            if case .reading(let options) = access {
                path = try ItemPath(intent.path, resolvingLast: options.contains(.resolvesSymbolicLink))
            } else {
                path = try ItemPath(intent.path)
            }
        }

        var isWritten: Bool {
            if case .writing = access { true } else { false }
        }

        /// Replacing concerns the path, even if the item that had it moves.
        var followsMoves: Bool { access != .writing(.replacing) }
    }

    private init(
        _ items: [Item], _ slots: ItemSlots, _ purpose: CoordinationPurpose, _ conversations: PresenterConversations
    ) {
        self.items = items
        self.slots = slots
        self.purpose = purpose
        self.conversations = conversations
        paths = items.map(\.path.string)
        id = purpose.accessBegins(writing: items.filter(\.isWritten).map(\.path))
    }

    /// Waits until presenters have relinquished the items, then takes the locks. In this order, since a presenter that
    /// is asked to save writes the item itself.
    static func begin(
        _ intents: [FileAccessIntent], _ purpose: CoordinationPurpose, _ limit: WaitLimit
    ) throws(FileError) -> CoordinatedAccess {
        try requireFew(intents)
        var items: [Item] = []
        for intent in intents { items.append(try Item(intent)) }
        let conversations = PresenterConversations(domain: purpose.domain, except: purpose.presenter)
        while true {
            try limit.requireWanted(items.first?.path.string ?? "")
            let bookmarks = items.map { $0.followsMoves ? ItemBookmark($0.path) : nil }
            let asked = purpose.uncovered(items.map { AnnouncedItem($0.path, $0.access) })
            try conversations.ask(about: asked, limit.forPresenters)
            let slots = slots(items, purpose.domain)
            try purpose.claims.acquire(slots, limit, items.first?.path.string ?? "")
            if try isSettled(&items, bookmarks, asked, conversations, slots, purpose, limit) {
                for index in items.indices { items[index].existed = items[index].path.exists }
                return CoordinatedAccess(items, slots, purpose, conversations)
            }
            // Presenters that keep arriving, or a member that keeps moving the item, can't exceed the time limit.
            if limit.isOver { throw FileError(.lockTimeout, operation: "coordinate", path: items[0].path.string) }
        }
    }

    private static func requireFew(_ intents: [FileAccessIntent]) throws(FileError) {
        if intents.isEmpty || intents.count > PresenterMessage.maximumItems {
            throw FileError(
                .tooLarge, operation: "coordinate", path: intents.first?.path ?? "",
                advice: "Name 1 to \(PresenterMessage.maximumItems) items at once.")
        }
    }

    private static func slots(_ items: [Item], _ domain: CoordinationDomain) -> ItemSlots {
        var slots = ItemSlots()
        for item in items { slots.add(item.path, item.access, scope: domain.scope) }
        return slots
    }

    /// Returns whether the held locks are on the right items and every presenter of them was asked. Otherwise releases
    /// the locks, since a new presenter may need them to save.
    private static func isSettled(
        _ items: inout [Item], _ bookmarks: [ItemBookmark?], _ asked: [AnnouncedItem],
        _ conversations: PresenterConversations, _ slots: ItemSlots, _ purpose: CoordinationPurpose,
        _ limit: WaitLimit
    ) throws(FileError) -> Bool {
        do throws(FileError) {
            let hasMoved = follow(&items, bookmarks, purpose.domain)
            let isComplete = try !conversations.hasNewPresenters(for: asked, limit.forPresenters)
            if isComplete && !hasMoved { return true }
            purpose.claims.release(slots)
            return false
        } catch {
            purpose.claims.release(slots)
            throw error
        }
    }

    /// Follows an item that was moved during the wait: it is the same item.
    private static func follow(
        _ items: inout [Item], _ bookmarks: [ItemBookmark?], _ domain: CoordinationDomain
    ) -> Bool {
        var hasMoved = false
        for index in items.indices {
            guard let new = bookmarks[index]?.newPath() else { continue }
            // An access never leaves the domain's scope.
            if let scope = domain.scope, scope.contains(items[index].path), !scope.contains(new) { continue }
            items[index].path = new
            hasMoved = true
        }
        return hasMoved
    }

    /// Releases the locks, notifies presenters of the writes, and lets the waiting presenters continue.
    func end() {
        let events = purpose.accessEnds(id) + items.compactMap(event)
        // Before the locks are released: until then the item is as this access left it.
        if items.contains(where: \.isWritten) { purpose.settleOwnPresenter() }
        purpose.claims.release(slots)
        conversations.end(events)
    }

    private func event(of item: Item) -> ItemEvent? {
        guard case .writing(let purpose) = item.access else { return nil }
        let exists = item.path.exists
        if !exists { return item.existed && purpose != .moving ? .gone(item.path) : nil }
        return item.existed ? .changed(item.path) : .appeared(item.path)
    }
}

/// A reference to the file or directory at a path, which finds it again if it is renamed during a wait.
final class ItemBookmark: Sendable {
    private let path: ItemPath
    private let file: Descriptor

    /// Returns `nil` if the path does not exist.
    init?(_ path: ItemPath) {
        let opened = uninterrupted { open(path.string, handleFlags) }
        if opened < 0 { return nil }
        self.path = path
        file = Descriptor(owning: opened, path: path.string)
    }

    /// Returns the current path of the file if its old path no longer exists.
    ///
    /// If the old path exists, the item there counts: a new version replaced it.
    func newPath() -> ItemPath? {
        if path.exists { return nil }
        var space = [CChar](repeating: 0, count: ItemPath.maximumLength + 1)
        let count = readlink("/proc/self/fd/\(file.rawValue)", &space, space.count)
        guard count > 0, let text = String(validating: space[..<count], as: UTF8.self),
            let found = ItemPath(claimed: text), found != path
        else { return nil }
        // The kernel appends "(deleted)" to the path of a file without a name; another file may have exactly that name.
        guard let there = found.attributes, let facts = try? file.attributes(), facts.isSameFile(as: there) else {
            return nil
        }
        return found
    }
}
