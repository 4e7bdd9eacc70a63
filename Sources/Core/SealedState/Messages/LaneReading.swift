internal import AppGroups
internal import Sealing
internal import SharedFiles

/// The segments of a lane from a number on, one after the other: only those with an authentic cover, each with the
/// numbers of its messages, which end where the next such segment begins.
struct LaneReading {
    private let lane: MailLane
    private let firsts: [UInt64]
    private let start: UInt64
    private let root: Directory?
    private var index: Int?

    /// - Parameter root: The directory with the mailboxes; the container unless stated.
    init(_ lane: MailLane, from number: UInt64, _ firsts: [UInt64], in root: Directory? = nil) {
        (self.lane, self.firsts, start, self.root) = (lane, firsts, number, root)
    }

    mutating func next(in store: SealedStore) throws(StoreError) -> (MailSegment, Range<UInt64>)? {
        let position: Int
        if let index { position = index } else { position = try begin(in: store) }
        guard position < firsts.count else { return nil }
        let following = try trusted(from: position + 1, in: store)
        index = following
        let first = firsts[position]
        let end = following < firsts.count ? firsts[following] : .max
        guard let segment = try store.mailSegment(lane, first: first, in: root) else { return try next(in: store) }
        return (segment, first..<max(first, end))
    }

    /// Returns the position of the segment that may have the first number.
    private func begin(in store: SealedStore) throws(StoreError) -> Int {
        var position = (firsts.firstIndex { $0 > start } ?? firsts.count) - 1
        while position >= 0 {
            if try isTrusted(position, in: store) { return position }
            position -= 1
        }
        return try trusted(from: 0, in: store)
    }

    private func trusted(from position: Int, in store: SealedStore) throws(StoreError) -> Int {
        var position = position
        while position < firsts.count, try !isTrusted(position, in: store) { position += 1 }
        return position
    }

    private func isTrusted(_ position: Int, in store: SealedStore) throws(StoreError) -> Bool {
        let first = firsts[position]
        let root = root ?? store.container.root
        guard let cover = try? root.readPrefix(lane.path(first: first), count: MailSegment.coverSize) else {
            return false
        }
        return try MailSegment.isCover(cover.bytes, of: lane, first: first, in: store)
    }
}

extension SealedStore {
    /// The largest last segment that is kept when all of its messages are handled: it saves its producer a new file.
    private static let keptSize = 8 << 10

    /// Removes the segments of a lane whose messages are all handled, and of which no dead letter is kept, unless a sender
    /// or a rotation is at work.
    func removeHandledMail(
        _ lane: MailLane, _ state: MailboxState.Lane, _ mailbox: MailboxName
    ) throws(StoreError) {
        let firsts = try mailSegments(of: mailbox)[lane.producer] ?? []
        let last = firsts.last ?? 0
        let candidates = firsts.indices.filter { index in
            let first = firsts[index]
            if index + 1 < firsts.count { return firsts[index + 1] <= state.handled + 1 }
            // The last segment, if nothing of it is under way.
            let size = (try? container.root.attributes(lane.path(first: first)))?.size ?? 0
            return first <= state.handled && state.handled >= state.delivered && size > Self.keptSize
        }
        guard !candidates.isEmpty else { return }
        let lock = try StoreError.onFiles("remove handled messages of", lane.producer) { () throws(FileError) in
            try reader.locks.lock(lane.place.lock, timeout: .zero)
        }
        guard lock.isStillNamed(), isInPlace else { return }
        let dead = Set(state.dead.map(\.number))
        for first in candidates.map({ firsts[$0] }) {
            guard let segment = try mailSegment(lane, first: first),
                segment.frames.allSatisfy({ $0.number <= state.handled && !dead.contains($0.number) }),
                first != last || segment.bytes.count > Self.keptSize
            else { continue }
            try? container.root.remove(segment.path, durability: .unsynced)
        }
    }
}
