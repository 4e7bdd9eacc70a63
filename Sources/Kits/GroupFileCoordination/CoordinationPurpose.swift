internal import Synchronization

/// On whose behalf a coordinator works, where, and what it has announced for a batch.
final class CoordinationPurpose: Sendable {
    let presenter: (any FilePresenter)?
    let domain: CoordinationDomain
    let claims: Claims
    private let announced = Mutex<[AnnouncedItem]>([])
    private let running = Mutex(Running())

    /// The accesses that run, in the order in which they began.
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

    /// What no batch under way has already asked for.
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

    /// - Parameter written: the items that it may move.
    /// - Returns: which one it is, for its end.
    func accessBegins(writing written: [ItemPath]) -> UInt64 {
        running.withLock { running in
            running.last += 1
            running.accesses.append(Access(id: running.last, written: written))
            return running.last
        }
    }

    /// - Returns: the moves that were noted for it.
    func accessEnds(_ id: UInt64) -> [ItemEvent] {
        running.withLock { running in
            guard let index = running.accesses.firstIndex(where: { $0.id == id }) else { return [] }
            return running.accesses.remove(at: index).moves
        }
    }

    /// Keeps a move for the end of the access that made it: told on the way on which presenters hear that they may go on, so
    /// that none goes on at the old place.
    ///
    /// That is the latest access that writes the old place, else the new one; else the first that runs, which contains the
    /// others if they are nested.
    /// - Returns: false where there is no access.
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

    /// What this coordinator has written is no news to its presenter, which may have a path only now.
    func settleOwnPresenter() {
        guard let presenter, let post = PresenterPost.existing(in: domain), let record = post.record(of: presenter)
        else { return }
        post.refresh(record)
    }
}

/// Which coordinators never wait for each other: those made with the same presenter, and each one with itself.
enum Purposes {
    private struct Key: Hashable {
        let presenter: ObjectIdentifier
        let domain: CoordinationDomain.Identity
    }

    private struct Entry {
        weak var claims: Claims?
    }

    private static let table = Mutex<[Key: Entry]>([:])

    /// The claims of a presenter's coordinators; fresh ones for a coordinator without a presenter.
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

    /// The claims of a presenter's coordinators, if it has any.
    static func existing(of presenter: any FilePresenter, in domain: CoordinationDomain) -> Claims? {
        let key = Key(presenter: ObjectIdentifier(presenter), domain: domain.identity)
        return table.withLock { $0[key]?.claims }
    }
}
