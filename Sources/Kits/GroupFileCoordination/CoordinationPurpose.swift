internal import Synchronization

/// The presenter and the domain of a coordinator, and the items that it has announced for a batch.
final class CoordinationPurpose: Sendable {
    let presenter: (any FilePresenter)?
    let domain: CoordinationDomain
    let claims: Claims
    private let announced = Mutex<[AnnouncedItem]>([])
    private let running = Mutex(Running())

    /// The running accesses, in the order in which they began.
    private struct Running {
        var accesses: [Access] = []
        var last: UInt64 = 0
    }

    private struct Access {
        let id: UInt64
        let written: [ItemPath]
        var moves: [ItemEvent] = []

        func writes(_ item: ItemPath) -> Bool { written.contains { $0 == item || $0.contains(item) } }
    }

    init(_ presenter: (any FilePresenter)?, _ domain: CoordinationDomain) {
        self.presenter = presenter
        self.domain = domain
        claims = Purposes.claims(of: presenter, in: domain)
    }

    /// Returns the items that no running batch has already asked for.
    func uncovered(_ items: [AnnouncedItem]) -> [AnnouncedItem] {
        let announced = announced.withLock { $0 }
        return items.filter { item in !announced.contains { item.isCovered(by: $0) } }
    }

    func announce(_ items: [AnnouncedItem]) {
        announced.withLock { $0 += items }
    }

    func retract(_ items: [AnnouncedItem]) {
        announced.withLock { announced in
            for item in items { announced.firstIndex(of: item).map { _ = announced.remove(at: $0) } }
        }
    }

    /// - Parameter written: the items that the access may move.
    /// - Returns: the access's number, for `accessEnds`.
    func accessBegins(writing written: [ItemPath]) -> UInt64 {
        running.withLock { running in
            running.last += 1
            running.accesses.append(Access(id: running.last, written: written))
            return running.last
        }
    }

    /// - Returns: the moves that were recorded for the access.
    func accessEnds(_ id: UInt64) -> [ItemEvent] {
        running.withLock { running in
            guard let index = running.accesses.firstIndex(where: { $0.id == id }) else { return [] }
            return running.accesses.remove(at: index).moves
        }
    }

    /// Records a move for the end of the access that made it. Presenters receive it before they may continue, so that
    /// none continues at the old path.
    ///
    /// The access is the latest one that writes the old path, else the new one; else the first running one, which
    /// contains the others if they are nested.
    /// - Returns: `false` if no access runs.
    func noteMove(from old: ItemPath, to new: ItemPath) -> Bool {
        running.withLock { running in
            let index =
                running.accesses.lastIndex { $0.writes(old) } ?? running.accesses.lastIndex { $0.writes(new) }
                ?? running.accesses.indices.first
            guard let index else { return false }
            running.accesses[index].moves.append(.moved(old, new))
            return true
        }
    }

    /// Marks the coordinator's own writes as known to its presenter, which may have a path only now.
    func settleOwnPresenter() {
        guard let presenter, let post = PresenterPost.existing(in: domain), let record = post.record(of: presenter)
        else { return }
        post.refresh(record)
    }
}

/// The claims that coordinators share: those of the same presenter never wait for each other, and each never for
/// itself.
enum Purposes {
    private struct Key: Hashable {
        let presenter: ObjectIdentifier
        let domain: CoordinationDomain.Identity
    }

    private struct Entry {
        weak var claims: Claims?
    }

    private static let table = Mutex<[Key: Entry]>([:])

    /// Returns the claims of a presenter's coordinators, or new ones for a coordinator without a presenter.
    ///
    /// The caller keeps the presenter as long as the claims, so no other object can get its identity meanwhile.
    static func claims(of presenter: (any FilePresenter)?, in domain: CoordinationDomain) -> Claims {
        guard let presenter else { return Claims(domain: domain) }
        let key = Key(presenter: ObjectIdentifier(presenter), domain: domain.identity)
        return table.withLock { table in
            if let claims = table[key]?.claims { return claims }
            if table.count > 64 { table = table.filter { $0.value.claims != nil } }
            let claims = Claims(domain: domain)
            table[key] = Entry(claims: claims)
            return claims
        }
    }

    /// Returns the claims of a presenter's coordinators, if they exist.
    static func existing(of presenter: any FilePresenter, in domain: CoordinationDomain) -> Claims? {
        let key = Key(presenter: ObjectIdentifier(presenter), domain: domain.identity)
        return table.withLock { $0[key]?.claims }
    }
}
