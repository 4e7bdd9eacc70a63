internal import Glibc
internal import SharedFiles

/// An access that was granted: what is locked, and who has to be told at its end.
final class CoordinatedAccess: Sendable {
    /// Where the items are now, in the order of the intents.
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

        /// Replacing is about the path, whatever becomes of the item that had it.
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

    /// Waits until presenters have made way and the locks are held, in this order: a presenter that is asked to save writes
    /// the item itself.
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
            // Presenters that keep coming, or a member that keeps moving the item, cost no more than the limit.
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

    /// Whether the locks that are held now are on the right items, and every presenter of them was asked; else gives the
    /// locks back, since a newcomer may need them to save.
    private static func isSettled(
        _ items: inout [Item], _ bookmarks: [ItemBookmark?], _ asked: [AnnouncedItem],
        _ conversations: PresenterConversations, _ slots: ItemSlots, _ purpose: CoordinationPurpose,
        _ limit: WaitLimit
    ) throws(FileError) -> Bool {
        do throws(FileError) {
            let hasMoved = follow(&items, bookmarks, purpose.domain)
            let isComplete = try !conversations.hasNewcomers(for: asked, limit.forPresenters)
            if isComplete && !hasMoved { return true }
            purpose.claims.release(slots)
            return false
        } catch {
            purpose.claims.release(slots)
            throw error
        }
    }

    /// An item that was moved while we waited is the same item.
    private static func follow(
        _ items: inout [Item], _ bookmarks: [ItemBookmark?], _ domain: CoordinationDomain
    ) -> Bool {
        var hasMoved = false
        for index in items.indices {
            guard let new = bookmarks[index]?.newPath() else { continue }
            // Nobody is led out of what the domain is about.
            if let scope = domain.scope, scope.contains(items[index].path), !scope.contains(new) { continue }
            items[index].path = new
            hasMoved = true
        }
        return hasMoved
    }

    /// Gives the locks back, tells presenters what was written, and lets those go on that made way.
    func end() {
        let events = purpose.accessEnds(id) + items.compactMap(event)
        // Before the locks go: until then what lies there is what this access left.
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

/// Remembers which file or directory had a path, so that it can be found again after a rename while somebody waited.
final class ItemBookmark: Sendable {
    private let path: ItemPath
    private let file: Descriptor

    /// Nil where nothing has that path.
    init?(_ path: ItemPath) {
        let opened = uninterrupted { open(path.string, handleFlags) }
        if opened < 0 { return nil }
        self.path = path
        file = Descriptor(owning: opened, path: path.string)
    }

    /// Where it is now, if its old path stands for nothing any more.
    ///
    /// Where the path stands for something, that is the item: a new version was put in its place.
    func newPath() -> ItemPath? {
        if path.exists { return nil }
        var space = [CChar](repeating: 0, count: ItemPath.maximumLength + 1)
        let count = readlink("/proc/self/fd/\(file.rawValue)", &space, space.count)
        guard count > 0, let text = String(validating: space[..<count], as: UTF8.self),
            let found = ItemPath(claimed: text), found != path
        else { return nil }
        // "(deleted)" at its end is how the kernel says that it has no name; something else may have just that name.
        guard let there = found.attributes, let facts = try? file.attributes(), facts.isSameFile(as: there) else {
            return nil
        }
        return found
    }
}
