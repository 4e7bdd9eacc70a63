internal import Glibc
internal import SharedFiles
internal import Synchronization

/// The presenters of this process in one domain, and the address that other processes connect to.
final class PresenterPost: Sendable {
    let domain: CoordinationDomain
    let name: String
    private let records = Mutex<[PresenterRecord]>([])
    private let server: PresenterServer
    /// Serialises writes of the registration, so that an older list never replaces a newer one.
    private let publishing = Mutex(())

    private static let posts = Mutex<[CoordinationDomain.Identity: PresenterPost]>([:])

    private init(domain: CoordinationDomain) throws(FileError) {
        let digits = String(UInt64.random(in: .min ... .max), radix: 16)
        self.domain = domain
        name = String(repeating: "0", count: 16 - digits.count) + digits
        server = try PresenterServer(at: name + PresenterRegistration.socketSuffix, in: domain)
    }

    /// Returns this process's post in the domain, if it presents anything there.
    static func existing(in domain: CoordinationDomain) -> PresenterPost? {
        posts.withLock { $0[domain.identity] }
    }

    /// Adds a presenter. A second call has no effect.
    static func add(_ presenter: any FilePresenter, in domain: CoordinationDomain) throws(FileError) {
        // Refreshed before the lock is taken: the presenter may wait for code that needs the lock.
        let record = PresenterRecord(presenter)
        record.refresh()
        try posts.withLock { (posts) throws(FileError) in
            let post = if let post = posts[domain.identity] { post } else { try start(in: domain) }
            posts[domain.identity] = post
            do throws(FileError) {
                try post.insert(record)
            } catch {
                if post.remove(presenter) { posts[domain.identity] = nil }
                throw error
            }
        }
    }

    private static func start(in domain: CoordinationDomain) throws(FileError) -> PresenterPost {
        sweep(domain)
        let post = try PresenterPost(domain: domain)
        post.server.start(for: post)
        return post
    }

    static func remove(_ presenter: any FilePresenter, in domain: CoordinationDomain) {
        posts.withLock { posts in
            guard let post = posts[domain.identity], post.remove(presenter) else { return }
            posts[domain.identity] = nil
        }
    }

    /// Removes files of dead processes. Asks no live process.
    private static func sweep(_ domain: CoordinationDomain) {
        let limit = WaitLimit(.seconds(1)) { false }
        for left in RegistrationNames.some(in: domain, limit) where !limit.isOver {
            let socket = left + PresenterRegistration.socketSuffix
            if case .gone? = try? PresenterSocket.connect(to: socket, in: domain),
                PresenterRegistration.isOne(left, in: domain)
            {
                PresenterRegistration.remove(left, in: domain)
            }
        }
    }
}

extension PresenterPost {
    private func insert(_ record: PresenterRecord) throws(FileError) {
        if self.record(of: record.presenter) != nil { return }
        records.withLock { $0.append(record) }
        try record.watch(in: domain)
        try publish()
    }

    /// - Returns: whether that was the last presenter; the post is closed then.
    private func remove(_ presenter: any FilePresenter) -> Bool {
        guard let record = record(of: presenter) else { return records.withLock { $0.isEmpty } }
        record.retire()
        let isLast = records.withLock { records in
            records.removeAll { $0 === record }
            return records.isEmpty
        }
        guard isLast else {
            // A presenter that stays listed receives requests and agrees.
            try? publish()
            return false
        }
        PresenterRegistration.remove(name, in: domain)
        server.stop()
        return true
    }

    func record(of presenter: any FilePresenter) -> PresenterRecord? {
        records.withLock { records in records.first { $0.presenter === presenter } }
    }

    var presenters: [any FilePresenter] { records.withLock { $0.map(\.presenter) } }

    /// Returns a registration of every presenter with a path.
    func registration() -> PresenterRegistration {
        let entries = records.withLock { $0 }.compactMap { record in
            record.path.map { PresenterRegistration.Entry(presenter: record.id, path: $0) }
        }
        return PresenterRegistration(name: name, process: getpid(), entries: entries)
    }

    private func publish() throws(FileError) {
        try publishing.withLock { (_) throws(FileError) in try registration().write(in: domain) }
    }

    /// Updates a presenter's path after it has written its item or was notified of a move.
    func refresh(_ record: PresenterRecord) {
        // Until a later write of the registration succeeds, others find the old path; they only miss this presenter's
        // answer.
        if record.refresh() { republish(record) }
    }
}

extension PresenterPost {
    /// Returns a delivery of the requests that these items need; `advance` starts it.
    func delivery(
        to presenters: [UInt64], for items: [AnnouncedItem], completion: @escaping @Sendable (_ reason: String?) -> Void
    ) -> PresenterDelivery {
        let asked = records.withLock { $0.filter { presenters.contains($0.id) } }
        let work = asked.flatMap { record in
            (record.path.map { PresenterStep.steps(at: $0, for: items) } ?? []).map { (record, $0) }
        }
        return PresenterDelivery(work, completion: completion)
    }

    /// Notifies every presenter of the events that concern it.
    func notify(_ events: [ItemEvent], except own: (any FilePresenter)? = nil) {
        for record in records.withLock({ $0 }) where record.presenter !== own {
            for event in events {
                guard let path = record.path, let notice = event.notice(at: path) else { continue }
                record.notify(notice) { self.refreshAfterMove(record) }
            }
        }
    }

    /// The registration contains the old path until here; requests for it are answered as well.
    private func refreshAfterMove(_ record: PresenterRecord) {
        record.refresh()
        republish(record)
    }

    private func republish(_ record: PresenterRecord) {
        try? publish()
        // If no watch is available, the presenter still gets notices of coordinated accesses.
        try? record.watch(in: domain)
    }

    /// Notifies presenters of changed items after a writer's connection broke without events.
    func look(at items: [AnnouncedItem]) {
        for record in records.withLock({ $0 }) where record.isUnsettled {
            guard let path = record.path, items.contains(where: { $0.path == path || $0.path.contains(path) }) else {
                continue
            }
            record.notifyChange()
        }
    }
}
