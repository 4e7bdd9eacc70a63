internal import Glibc
internal import SharedFiles
internal import Synchronization

/// The presenters of this process in one domain, and the address at which other processes reach them.
final class PresenterPost: Sendable {
    let domain: CoordinationDomain
    let name: String
    private let records = Mutex<[PresenterRecord]>([])
    private let server: PresenterServer
    /// One writer of the registration at a time, so that an older list never replaces a newer one.
    private let publishing = Mutex(())

    private static let posts = Mutex<[CoordinationDomain.Identity: PresenterPost]>([:])

    private init(domain: CoordinationDomain) throws(FileError) {
        let digits = String(UInt64.random(in: .min ... .max), radix: 16)
        self.domain = domain
        name = String(repeating: "0", count: 16 - digits.count) + digits
        server = try PresenterServer(at: name + PresenterRegistration.socketSuffix, in: domain)
    }

    /// Where this process presents something in that domain.
    static func existing(in domain: CoordinationDomain) -> PresenterPost? {
        posts.withLock { $0[domain.identity] }
    }

    /// Adds a presenter. A second time changes nothing.
    static func add(_ presenter: any FilePresenter, in domain: CoordinationDomain) throws(FileError) {
        // Asked before the lock is taken: a presenter may have to wait for somebody who needs it.
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

    /// Removes what dead processes left. Asks nobody who is alive.
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

    /// - Returns: whether that was the last one; the post is closed then.
    private func remove(_ presenter: any FilePresenter) -> Bool {
        guard let record = record(of: presenter) else { return records.withLock { $0.isEmpty } }
        record.retire()
        let isLast = records.withLock { records in
            records.removeAll { $0 === record }
            return records.isEmpty
        }
        guard isLast else {
            // What stays listed is asked in vain and agrees.
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

    /// Every presenter with a path.
    func registration() -> PresenterRegistration {
        let entries = records.withLock { $0 }.compactMap { record in
            record.path.map { PresenterRegistration.Entry(presenter: record.id, path: $0) }
        }
        return PresenterRegistration(name: name, process: getpid(), entries: entries)
    }

    private func publish() throws(FileError) {
        try publishing.withLock { (_) throws(FileError) in try registration().write(in: domain) }
    }

    /// A presenter has written its item, or was told that it moved: looks where it is now.
    func refresh(_ record: PresenterRecord) {
        // Others look for it under its old path until a later publishing succeeds; they lose nothing but its advice.
        if record.refresh() { republish(record) }
    }
}

extension PresenterPost {
    /// Asks presenters for what these items need of them; `advance` begins.
    func delivery(
        to presenters: [UInt64], for items: [AnnouncedItem], completion: @escaping @Sendable (_ reason: String?) -> Void
    ) -> PresenterDelivery {
        let asked = records.withLock { $0.filter { presenters.contains($0.id) } }
        let work = asked.flatMap { record in
            (record.path.map { PresenterStep.steps(at: $0, for: items) } ?? []).map { (record, $0) }
        }
        return PresenterDelivery(work, completion: completion)
    }

    /// Tells every presenter what concerns it.
    func tell(_ events: [ItemEvent], except own: (any FilePresenter)? = nil) {
        for record in records.withLock({ $0 }) where record.presenter !== own {
            for event in events {
                guard let path = record.path, let notice = event.notice(at: path) else { continue }
                record.tell(notice) { self.refreshAfterMove(record) }
            }
        }
    }

    /// The old path is in the registration until here: whoever asks for it meanwhile is answered all the same.
    private func refreshAfterMove(_ record: PresenterRecord) {
        record.refresh()
        republish(record)
    }

    private func republish(_ record: PresenterRecord) {
        try? publish()
        // Out of watches: the presenter still hears of what is coordinated.
        try? record.watch(in: domain)
    }

    /// A writer broke off without saying what it did: presenters of these items are told where something has changed.
    func look(at items: [AnnouncedItem]) {
        for record in records.withLock({ $0 }) where record.isUnsettled {
            guard let path = record.path, items.contains(where: { $0.path == path || $0.path.contains(path) }) else {
                continue
            }
            record.tellChange()
        }
    }
}
