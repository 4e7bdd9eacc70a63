/// The pending requests and notices of a presenter.
///
/// Requests come first, since an access waits for each. After each request, up to two other entries follow, so that
/// repeated requests don't delay a reacquirer for ever. The number of notices is limited, so that no sender can fill
/// this process's memory.
struct PresenterInbox {
    enum Entry {
        case request(@Sendable () -> Void, of: ObjectIdentifier)
        case notice(ItemEvent.Notice)
        /// Follows every notice that arrived before it.
        case reacquirer(@Sendable () -> Void)
    }

    /// More notices than this are merged into one change of the item.
    static let maximumNotices = 32

    private var requests: [Entry] = []
    private var rest: [Entry] = []
    /// The number of other entries before the next request.
    private var turns = 0
    private var isBeingEmptied = false

    /// - Returns: whether the caller has to start taking out entries.
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

    /// Returns the next entry; `nil` if the inbox is empty. `add` then reports when to start again.
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

    /// Removes the requests of an access that no longer waits.
    mutating func withdraw(_ owner: ObjectIdentifier) {
        requests.removeAll { if case .request(_, owner) = $0 { true } else { false } }
    }

    /// Removes all notices.
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

    /// Only the last path matters. It replaces the first of these moves, so it precedes the reacquirers that follow
    /// that move.
    private mutating func replaceMove(_ notice: ItemEvent.Notice) {
        if let index = rest.firstIndex(where: { $0.isMove }) {
            rest[index] = .notice(notice)
        } else {
            rest.append(.notice(notice))
        }
    }

    /// Replaces all notices by one change and the last move: earlier than some were due, never later.
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

    /// `true` if one notice carries the same information as two.
    fileprivate var isRepeatable: Bool {
        switch self {
        case .changed, .subitemChanged, .subitemAppeared: true
        case .moved, .subitemMoved: false
        }
    }
}
