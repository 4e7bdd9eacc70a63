internal import SharedFiles
internal import Synchronization

/// Asks presenters of this process to relinquish items for an access, and lets them continue when it is over.
///
/// The presenters are asked one after another, so that a presenter that saves, and thereby asks the others, finds them
/// free to answer.
final class PresenterDelivery: Sendable {
    typealias Work = (record: PresenterRecord, step: PresenterStep)

    private let completion: @Sendable (_ reason: String?) -> Void
    private let state: Mutex<State>

    private struct State {
        var rest: [Work]
        var asked: PresenterRecord?
        var reacquirers: [(PresenterRecord, @Sendable () -> Void)] = []
        var isFinished = false
    }

    /// - Parameter completion: called once, on any thread, when all have agreed or the first one has refused; never
    ///   after `finish`.
    init(_ work: [Work], completion: @escaping @Sendable (_ reason: String?) -> Void) {
        self.completion = completion
        state = Mutex(State(rest: work.reversed()))
    }

    /// Asks the next presenter.
    func advance() {
        let (next, isFinished) = state.withLock { state in
            let next = state.isFinished ? nil : state.rest.popLast()
            state.asked = next?.record
            return (next, state.isFinished)
        }
        if isFinished { return }
        guard let next else { return completion(nil) }
        ask(next)
    }

    /// Ends the access: no more presenters are asked, and those that relinquished their items continue.
    func finish() {
        let (asked, reacquirers) = state.withLock { state in
            defer { (state.rest, state.asked, state.reacquirers, state.isFinished) = ([], nil, [], true) }
            return (state.asked, state.reacquirers)
        }
        asked?.withdrawRequests(of: self)
        for (record, reacquirer) in reacquirers { record.reacquire(reacquirer) }
    }

    private func ask(_ work: Work) {
        let answer = Answer(self, work.record)
        work.record.request(of: self) {
            // The access may have ended between the choice of this step and here.
            if self.isFinished { return }
            // A presenter that was removed meanwhile agrees.
            if work.record.isRemoved { return answer.agree() }
            let presenter = work.record.presenter
            switch work.step {
            case .relinquishToReader: presenter.relinquishPresentedItem(toReader: { answer.relinquish($0) })
            case .relinquishToWriter: presenter.relinquishPresentedItem(toWriter: { answer.relinquish($0) })
            case .save: presenter.savePresentedItemChanges { answer.complete($0) }
            case .accommodateDeletion: presenter.accommodatePresentedItemDeletion { answer.complete($0) }
            case .accommodateSubitemDeletion(let item):
                presenter.accommodatePresentedSubitemDeletion(at: item.string) { answer.complete($0) }
            }
        }
    }

    private var isFinished: Bool { state.withLock { $0.isFinished } }

    fileprivate func keep(_ reacquirer: @escaping @Sendable () -> Void, of record: PresenterRecord) {
        let isTooLate = state.withLock { state in
            if !state.isFinished { state.reacquirers.append((record, reacquirer)) }
            return state.isFinished
        }
        if isTooLate { record.reacquire(reacquirer) }
    }

    fileprivate func refuse(_ reason: String) {
        let isFinished = state.withLock { state in
            state.rest = []
            return state.isFinished
        }
        if !isFinished { completion(reason) }
    }
}

/// A presenter's answer to one step; only the first call counts.
private final class Answer: Sendable {
    private let delivery: PresenterDelivery
    private let record: PresenterRecord
    private let isGiven = Atomic(false)

    init(_ delivery: PresenterDelivery, _ record: PresenterRecord) {
        self.delivery = delivery
        self.record = record
    }

    private var isFirst: Bool { !isGiven.exchange(true, ordering: .acquiringAndReleasing) }

    func agree() {
        if isFirst { delivery.advance() }
    }

    func relinquish(_ reacquirer: (@Sendable () -> Void)?) {
        guard isFirst else { return }
        if let reacquirer { delivery.keep(reacquirer, of: record) }
        delivery.advance()
    }

    func complete(_ error: FileError?) {
        guard isFirst else { return }
        if let error { delivery.refuse(error.code.rawValue) } else { delivery.advance() }
    }
}
