/// What a presenter still has to be asked and told.
///
/// Requests go first: somebody waits for each. After each of them up to two of the rest, so that who asks again and again
/// keeps nobody from going on. Notices are few at any time, however many arrive: no sender can fill this process's memory.
struct PresenterInbox {
    enum Entry {
        case request(@Sendable () -> Void, of: ObjectIdentifier)
        case notice(ItemEvent.Notice)
        /// Comes after every notice that arrived before it.
        case reacquirer(@Sendable () -> Void)
    }

    /// More than these are told as one change of the item.
    static let maximumNotices = 32

    private var requests: [Entry] = []
    private var rest: [Entry] = []
    /// How many of the rest come before the next request.
    private var turns = 0
    private var isBeingEmptied = false

    /// - Returns: whether somebody has to begin taking entries out.
    mutating func add(_ entry: Entry) -> Bool {
        switch entry {
        case .request: requests.append(entry)
        case .notice(let notice): add(notice)
        case .reacquirer: rest.append(entry)
        }
        let isFirst = !isBeingEmptied && !isEmpty
        if isFirst { isBeingEmptied = true }
        return isFirst
    }

    /// Nil when nothing is left; then `add` says when to begin again.
    mutating func next() -> Entry? {
        if isEmpty {
            isBeingEmptied = false
            return nil
        }
        if !requests.isEmpty && (turns == 0 || rest.isEmpty) {
            turns = 2
            return requests.removeFirst()
        }
        turns = max(0, turns - 1)
        return rest.removeFirst()
    }

    /// Nobody waits for the answer any more.
    mutating func withdraw(_ owner: ObjectIdentifier) {
        requests.removeAll { if case .request(_, owner) = $0 { true } else { false } }
    }

    /// The presenter hears no news any more.
    mutating func dropNotices() {
        rest.removeAll { $0.notice != nil }
    }

    private var isEmpty: Bool { requests.isEmpty && rest.isEmpty }

    private mutating func add(_ notice: ItemEvent.Notice) {
        if notice.isMove { return replaceMove(notice) }
        if notice.isRepeatable && rest.contains(where: { $0.notice == notice }) { return }
        rest.append(.notice(notice))
        if rest.count(where: { $0.notice != nil }) > Self.maximumNotices { collapse() }
    }

    /// Only where it is last matters; told where the first of these moves was, so before whoever waits for that one goes on.
    private mutating func replaceMove(_ notice: ItemEvent.Notice) {
        if let index = rest.firstIndex(where: { $0.isMove }) {
            rest[index] = .notice(notice)
        } else {
            rest.append(.notice(notice))
        }
    }

    /// One change, and the last move, in the place of all of them: earlier than some were due, never later.
    private mutating func collapse() {
        guard let first = rest.firstIndex(where: { $0.notice != nil }) else { return }
        let move = rest.first { $0.isMove }
        dropNotices()
        rest.insert(contentsOf: [move, .notice(.changed)].compactMap { $0 }, at: first)
    }
}

extension PresenterInbox.Entry {
    fileprivate var notice: ItemEvent.Notice? {
        if case .notice(let notice) = self { notice } else { nil }
    }

    fileprivate var isMove: Bool { notice?.isMove == true }
}

extension ItemEvent.Notice {
    var isMove: Bool {
        if case .moved = self { true } else { false }
    }

    /// Whether hearing it once says as much as hearing it twice.
    fileprivate var isRepeatable: Bool {
        switch self {
        case .changed, .subitemChanged, .subitemAppeared: true
        case .moved, .subitemMoved: false
        }
    }
}
