/// What a coordinated writer has done.
enum ItemEvent: Sendable, Hashable {
    case changed(ItemPath)
    case appeared(ItemPath)
    case gone(ItemPath)
    case moved(ItemPath, ItemPath)

    /// What a presenter of a path is told about it.
    enum Notice: Sendable, Hashable {
        case changed
        case moved(ItemPath)
        case subitemChanged(ItemPath)
        case subitemAppeared(ItemPath)
        case subitemMoved(ItemPath, ItemPath)
    }

    /// What is believed of it when another unix user says so.
    ///
    /// A presenter writes where it believes its item to be, with its own user's rights. So another user may send it from one
    /// place to another within the domain's scope only, where it could do as much itself by moving the file.
    func confined(to scope: ItemPath?) -> ItemEvent {
        guard case .moved(let old, let new) = self else { return self }
        if let scope, scope.contains(old), scope.contains(new), (try? ItemPath(new.string)) == new { return self }
        return .changed(old)
    }

    /// Nil where it does not concern that presenter.
    func notice(at presented: ItemPath) -> Notice? {
        switch self {
        case .changed(let item):
            presented == item ? .changed : presented.contains(item) ? .subitemChanged(item) : nil
        case .appeared(let item):
            presented == item ? .changed : presented.contains(item) ? .subitemAppeared(item) : nil
        // Its own presenters were told before.
        case .gone(let item): presented.contains(item) ? .subitemChanged(item) : nil
        case .moved(let old, let new): notice(at: presented, old, new)
        }
    }

    private func notice(at presented: ItemPath, _ old: ItemPath, _ new: ItemPath) -> Notice? {
        if let place = presented.moved(from: old, to: new) { return .moved(place) }
        if presented.contains(old) { return .subitemMoved(old, new) }
        return presented.contains(new) ? .subitemAppeared(new) : nil
    }
}
