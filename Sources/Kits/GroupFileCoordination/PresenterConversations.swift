internal import Dispatch
internal import Glibc
internal import SharedFiles
internal import Synchronization

/// All presenters that were asked for one access, in this process and in others.
final class PresenterConversations: Sendable {
    private let domain: CoordinationDomain
    private let own: (any FilePresenter)?
    private let state = Mutex(State())

    /// The maximum number of processes that are asked for one access, each by a connection that lasts as long as the
    /// access.
    private static let maximumConversations = 64
    /// The time limit for notifying processes that were not asked. Later ones miss the notice.
    private static let notificationTimeLimit = Duration.seconds(1)

    private struct State {
        var asked: Set<Asked> = []
        var here: [PresenterDelivery] = []
        var elsewhere: [(name: String, conversation: PresenterConversation)] = []
    }

    private struct Asked: Hashable {
        let name: String
        let presenter: UInt64
    }

    /// - Parameter own: the presenter that the access belongs to; it is not asked.
    init(domain: CoordinationDomain, except own: (any FilePresenter)?) {
        self.domain = domain
        self.own = own
    }

    deinit { end([]) }

    /// Asks every presenter that these items concern and that was not asked yet, one process after another, and waits
    /// for the answers.
    ///
    /// - Throws: `presenterTimeout`, `presenterFailed`, `cancelled`, `tooLarge`, or a system error.
    func ask(about items: [AnnouncedItem], _ limit: WaitLimit) throws(FileError) {
        guard let path = items.first?.path.string else { return }
        for (registration, presenters) in try concerned(by: items, limit) {
            let message = PresenterMessage.prepare(presenters: presenters, items: items)
            guard message.bytes.count <= PresenterMessage.maximumSize else {
                throw FileError(.tooLarge, operation: "coordinate", path: path)
            }
            if registration.name == PresenterPost.existing(in: domain)?.name {
                try askHere(presenters, items, limit, path)
            } else {
                try askElsewhere(registration, message, limit, path)
            }
            state.withLock { $0.asked.formUnion(presenters.map { Asked(name: registration.name, presenter: $0) }) }
        }
    }

    /// Returns whether a presenter was added that was not asked.
    func hasNewPresenters(for items: [AnnouncedItem], _ limit: WaitLimit) throws(FileError) -> Bool {
        try !concerned(by: items, limit).isEmpty
    }

    private func concerned(
        by items: [AnnouncedItem], _ limit: WaitLimit
    ) throws(FileError) -> [(registration: PresenterRegistration, presenters: [UInt64])] {
        let asked = state.withLock { $0.asked }
        if items.isEmpty { return [] }
        var found: [(PresenterRegistration, [UInt64])] = []
        for (index, registration) in try registrations(limit).enumerated() {
            if index % 8 == 7 { try limit.requireTimeForPresenters(domain.directory.display(".")) }
            let presenters = registration.entries.filter { entry in
                !PresenterStep.steps(at: entry.path, for: items).isEmpty
                    && !asked.contains(Asked(name: registration.name, presenter: entry.presenter))
            }
            if !presenters.isEmpty { found.append((registration, presenters.map(\.presenter))) }
        }
        return found
    }

    /// Returns the registrations, this process's first, without the presenter that the access belongs to.
    private func registrations(_ limit: WaitLimit) throws(FileError) -> [PresenterRegistration] {
        let post = PresenterPost.existing(in: domain)
        let others = try domain.registrations.all(in: domain, except: post?.name, limit)
        guard let post else { return others }
        let all = post.registration()
        let ownID = own.flatMap { post.record(of: $0)?.id }
        let here = PresenterRegistration(
            name: all.name, process: all.process, entries: all.entries.filter { $0.presenter != ownID })
        return [here] + others
    }

    private func askHere(
        _ presenters: [UInt64], _ items: [AnnouncedItem], _ limit: WaitLimit, _ path: String
    ) throws(FileError) {
        guard let post = PresenterPost.existing(in: domain) else { return }
        let answer = LocalAnswer()
        let delivery = post.delivery(to: presenters, for: items) { answer.give($0) }
        state.withLock { $0.here.append(delivery) }
        delivery.advance()
        while true {
            try limit.requireWanted(path)
            if let outcome = answer.wait(limit.tick) {
                guard let reason = outcome else { return }
                throw .presenterFailed(path, process: getpid(), reason: reason)
            }
            if limit.isOver { throw .presenterTimeout(path, process: getpid()) }
        }
    }

    private func askElsewhere(
        _ registration: PresenterRegistration, _ message: PresenterMessage, _ limit: WaitLimit, _ path: String
    ) throws(FileError) {
        if state.withLock({ $0.elsewhere.count >= Self.maximumConversations }) {
            throw .tooManyRegistrations(domain.directory.display("."))
        }
        let conversation = try PresenterConversation.begin(with: registration, in: domain, message, limit, path)
        if let conversation { state.withLock { $0.elsewhere.append((registration.name, conversation)) } }
    }

    /// Ends the access: notifies presenters of the events, then lets them continue.
    func end(_ events: [ItemEvent]) {
        let notified = release(events)
        if !events.isEmpty { notify(events, but: notified) }
    }

    /// Notifies all presenters that these events concern.
    func notify(_ events: [ItemEvent]) {
        PresenterPost.existing(in: domain)?.notify(events, except: own)
        notify(events, but: [])
    }

    /// Notifies the presenters that relinquished the items and lets them continue: their connections end with this
    /// function, before other presenters are searched.
    ///
    /// - Returns: the names of the notified processes.
    private func release(_ events: [ItemEvent]) -> Set<String> {
        let (here, elsewhere) = state.withLock { state in
            defer { (state.here, state.elsewhere) = ([], []) }
            return (state.here, state.elsewhere)
        }
        var notified: Set<String> = []
        if !events.isEmpty { PresenterPost.existing(in: domain)?.notify(events, except: own) }
        for (name, conversation) in elsewhere where notified.insert(name).inserted && !events.isEmpty {
            conversation.notify(events)
        }
        for delivery in here { delivery.finish() }
        return notified
    }

    private func notify(_ events: [ItemEvent], but notified: Set<String>) {
        let limit = WaitLimit(Self.notificationTimeLimit) { false }
        let post = PresenterPost.existing(in: domain)
        for registration in (try? domain.registrations.all(in: domain, except: post?.name, limit)) ?? [] {
            if limit.isOver { return }
            let isConcerned = registration.entries.contains { entry in
                events.contains { $0.notice(at: entry.path) != nil }
            }
            if isConcerned && !notified.contains(registration.name) {
                PresenterConversation.notify(events, registration, in: domain)
            }
        }
    }
}

/// The answer of this process's presenters, for the waiting thread.
private final class LocalAnswer: Sendable {
    private let given = DispatchSemaphore(value: 0)
    private let reason = Mutex<String?>(nil)

    func give(_ reason: String?) {
        self.reason.withLock { $0 = reason }
        given.signal()
    }

    /// Returns `nil` if there is no answer yet; otherwise the answer, with the reason of a refusal.
    func wait(_ time: Duration) -> String?? {
        let (seconds, attoseconds) = time.components
        let interval = DispatchTimeInterval.nanoseconds(Int(seconds) * 1_000_000_000 + Int(attoseconds / 1_000_000_000))
        return given.wait(timeout: .now() + interval) == .success ? .some(reason.withLock { $0 }) : nil
    }
}
