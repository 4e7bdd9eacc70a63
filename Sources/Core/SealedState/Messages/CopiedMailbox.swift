internal import CryptoPrimitives
internal import Sealing
internal import SharedFiles

/// A mailbox in a copy of a container: its record, and the messages in its segments. Messages that its
/// readers would pass over are passed over.
struct CopiedMailbox {
    /// The messages of a mailbox as they were read once.
    struct Pass {
        /// A hash of all bytes that count.
        fileprivate(set) var hash: [UInt8]
        /// The highest known number of each producer.
        fileprivate(set) var highest: [String: UInt64] = [:]
        /// The size of the messages that are restored.
        fileprivate(set) var size = 0
        fileprivate var segments = 0
        /// The number of segments, messages and rests of segments that no reader accepts.
        fileprivate(set) var refused = 0
    }

    let state: MailboxState
    /// The header of the record in the copy.
    let header: BlobHeader
    /// The lanes of its producers, by name.
    let lanes: [MailLane]

    /// Each new segment is an open file until all of them are complete.
    private static let maximumSegments = 200

    private let store: SealedStore
    private let root: Directory
    private let segments: [String: [UInt64]]
    /// The hash of the record's bytes.
    private let recordHash: [UInt8]

    /// - Throws: `StoreError`: `.absent` without a record, since handled messages would come again; a rejection.
    init(
        _ mailbox: MailboxName, at place: RecordPlace, from copy: CopiedContainer, in store: SealedStore
    ) throws(StoreError) {
        let bytes: [UInt8]
        do throws(StoreError) { bytes = try store.copied(place.name, from: copy) } catch {
            guard error.code == .absent else { throw error }
            throw StoreError(
                .absent, "restore", place.name.text,
                "The copy has messages of the mailbox, and no record of those that were handled.")
        }
        let blob = try store.reader.opened(bytes, at: place)
        guard !blob.header.flags.contains(.tombstone) else {
            throw StoreError(.absent, "restore", place.name.text, "The copy has its deletion.")
        }
        try store.writer.requireRestorable(blob, at: place)
        (header, recordHash) = (blob.header, BLAKE2b.hash(bytes, count: 32))
        state = try store.reader.decodedSnapshot(of: MailboxState.self, from: blob, at: place).value
        segments = try store.mailSegments(of: mailbox, in: copy.root)
        lanes = try Set(segments.keys).union(state.lanes.keys).sorted().map { producer throws(StoreError) in
            try MailLane(mailbox, producer, in: store.group)
        }
        (self.store, root) = (store, copy.root)
    }

    /// Reads all messages that are not handled, and the dead ones: lane by lane, in the order of their numbers.
    ///
    /// - Parameter body: Gets each message, and the number of those that were lost before it.
    /// - Throws: `StoreError` for a message that cannot be judged now, as by an older roster; `.tooLarge`.
    func forEachMessage(
        _ body: (MailLane, borrowing AcceptedBlob, _ lost: UInt64) throws(StoreError) -> Void
    ) throws(StoreError) -> Pass {
        var pass = Pass(hash: recordHash)
        for lane in lanes { try read(lane, &pass, body) }
        return pass
    }

    /// Reads all messages as `forEachMessage`.
    ///
    /// - Parameters:
    ///   - numbers: The number of each producer after which they are counted.
    ///   - body: Gets each message and its new number.
    func forEachMessage(
        after numbers: [String: UInt64],
        _ body: (MailLane, borrowing AcceptedBlob, _ number: UInt64) throws(StoreError) -> Void
    ) throws(StoreError) -> Pass {
        var last = numbers
        return try forEachMessage { lane, blob, lost throws(StoreError) in
            let number = (last[lane.producer] ?? 0) + lost + 1
            guard number <= MailSegmentName.largest else { throw Self.ended(lane) }
            last[lane.producer] = number
            try body(lane, blob, number)
        }
    }

    private func read(
        _ lane: MailLane, _ pass: inout Pass,
        _ body: (MailLane, borrowing AcceptedBlob, _ lost: UInt64) throws(StoreError) -> Void
    ) throws(StoreError) {
        let (own, firsts) = (state.lane(lane.producer), segments[lane.producer] ?? [])
        var highest = max(own?.handled ?? 0, own?.delivered ?? 0, own?.later.map(\.last).max() ?? 0)
        guard highest < MailSegmentName.largest else { throw Self.ended(lane) }
        let dead = Set((own?.dead ?? []).map(\.number))
        var (count, last, next) = (0, UInt64(0), own.map { $0.handled + 1 })
        var reading = LaneReading(lane, from: 0, firsts, in: root)
        while let (segment, range) = try reading.next(in: store) {
            count += 1
            pass.segments += 1
            guard pass.segments <= Self.maximumSegments else { throw Self.tooLarge(lane) }
            if segment.end < segment.bytes.count, !segment.isTorn { pass.refused += 1 }
            pass.hash = BLAKE2b.hash(pass.hash + BLAKE2b.hash(segment.bytes, count: 32), count: 32)
            for frame in segment.frames.sorted(by: { $0.number < $1.number }) {
                let (number, isDead) = (frame.number, dead.contains(frame.number))
                if !isDead, own?.isHandled(number) == true { continue }
                guard number > last, range.contains(number), segment.hasKey(frame, segment.keyID),
                    let blob = try store.message(segment.blob(frame), lane, "restore")
                else {
                    pass.refused += 1
                    continue
                }
                let start = isDead ? number : min(next ?? number, number)
                if !isDead { next = number + 1 }
                (last, highest) = (number, max(highest, number))
                pass.size += MailSegment.frameSize + frame.range.count
                try body(lane, blob, Self.lost(in: start..<number, own))
            }
        }
        pass.refused += firsts.count - count
        pass.highest[lane.producer] = highest
    }

    /// Returns the number of messages in a range that are not handled. A gap of a former container has none.
    private static func lost(in range: Range<UInt64>, _ own: MailboxState.Lane?) -> UInt64 {
        let count = range.count - (own?.handledCount(in: range) ?? 0)
        return (0..<Int(ContainerCertificate.margin / 2)).contains(count) ? UInt64(count) : 0
    }

    private static func ended(_ lane: MailLane) -> StoreError {
        StoreError(
            .sequenceJump, "restore", lane.place.name.text, "The numbers of \(lane.producer) have reached their end.")
    }

    private static func tooLarge(_ lane: MailLane) -> StoreError {
        StoreError(
            .tooLarge, "restore", lane.place.name.text,
            "It has more than \(maximumSegments) segments of messages.")
    }
}

/// Messages in their order with their numbers, for a comparison.
struct MailChain: Equatable {
    private(set) var count = 0
    private var hash: [UInt8] = []

    mutating func append(_ blob: borrowing AcceptedBlob, as number: UInt64) {
        let header = blob.header
        let fields = [
            number, header.sealedAt, header.notAfter, UInt64(header.schemaVersion), UInt64(header.codec.rawValue),
        ].flatMap { value in withUnsafeBytes(of: value.littleEndian) { Array($0) } }
        var contents = [UInt8](repeating: 0, count: 32)
        blob.opened.plaintext.withUnsafeBytes { plaintext in
            contents.withUnsafeMutableBytes { BLAKE2b.hash(plaintext, personalization: nil, into: $0) }
        }
        hash = BLAKE2b.hash(hash + fields + contents, count: 32)
        count += 1
    }
}
