internal import FoundationEssentials
internal import KeyVault
internal import Sealing
internal import SharedFiles
internal import Synchronization

/// Takes messages and notes what became of them.
///
/// A producer's messages are leased to one reader at a time, whose fence guards each change of their state.
///
/// | this reader | the mailbox's record | another reader |
/// | --- | --- | --- |
/// | takes 1 to 3 | delivered: 3 | passes over the producer |
/// | acknowledges 1 | handled: 1 | |
/// | is killed | | takes the lease, gets 2 and 3, marked as redelivered |
final class MailReceiver: Sendable {
    /// A lane that this process holds.
    private struct HeldLane {
        let lease: HeldLease
        var until: ContinuousClock.Instant
        /// The messages that were taken and neither acknowledged nor given back.
        var taken: Set<UInt64> = []
    }

    /// The messages of one lane that are to be delivered, and those that never will be.
    private struct Plan<Value> {
        var deliveries: [MailDelivery<Value>] = []
        var lost: [UInt64] = []
        var expired: [UInt64] = []
        var dead: [(number: UInt64, reason: String)] = []
        var last: VerifiedHeader?
        /// The number before the first message, for a lane without a state.
        var base: UInt64 = 0
        /// A message that this program can neither read nor judge: it blocks its lane.
        var obstacle: StoreError?
    }

    private let mailbox: MailboxName
    private let limits: MailLimits
    /// Held during each call: the calls of one reader follow each other.
    private let lanes = Mutex<[String: HeldLane]>([:])
    /// The producer whose messages were taken last: the next call begins behind it.
    private let turn = Mutex<String>("")

    init(_ mailbox: MailboxName, _ limits: MailLimits) {
        self.mailbox = mailbox
        self.limits = limits
    }

    // MARK: Taking

    /// Takes messages, each producer's in order.
    ///
    /// - Parameter decode: Returns the value of an authentic message. A rejection makes the message dead, except that of
    ///   a newer version.
    func take<Value>(
        upTo limit: Int, in store: SealedStore, _ request: WriteRequest,
        _ decode: (borrowing AcceptedBlob, MailLane) throws(StoreError) -> Value
    ) throws(StoreError) -> [MailDelivery<Value>] {
        let segments = try store.mailSegments(of: mailbox)
        if segments.isEmpty { return [] }
        let state = try MailboxState.read(mailbox, in: store)
        var deliveries: [MailDelivery<Value>] = []
        var obstacle: StoreError?
        try lanes.withLock { (lanes) throws(StoreError) in
            for producer in order(of: segments.keys.sorted()) where deliveries.count < limit {
                let lane = try MailLane(mailbox, producer, in: store.group)
                guard let held = try hold(lane, &lanes, in: store, request) else { continue }
                let plan = try plan(
                    lane, segments[producer] ?? [], state.lanes[producer], held, limit - deliveries.count, store, decode
                )
                obstacle = obstacle ?? plan.obstacle
                let taken = try begin(plan, lane, held, in: store, request)
                lanes[producer]?.taken.formUnion(taken.map(\.id.number))
                if !taken.isEmpty { turn.withLock { $0 = producer } }
                deliveries += taken
            }
        }
        if deliveries.isEmpty, let obstacle { throw obstacle }
        return deliveries
    }

    /// Returns the producers, those behind the last one first, so that none has to wait for the others' end.
    private func order(of producers: [String]) -> [String] {
        let last = turn.withLock { $0 }
        return producers.filter { $0 > last } + producers.filter { $0 <= last }
    }

    /// Returns the lease of a lane; nil while another reader holds it.
    private func hold(
        _ lane: MailLane, _ lanes: inout [String: HeldLane], in store: SealedStore, _ request: WriteRequest
    ) throws(StoreError) -> HeldLane? {
        let table = LeaseTable(writer: store.writer)
        let now = ContinuousClock.now
        if var held = lanes[lane.producer], held.lease.fence.container == store.reader.anchor.number {
            if held.until - now > limits.handlingTime / 2 { return held }
            do throws(StoreError) {
                try table.renew(held.lease.fence, for: limits.handlingTime)
                held.until = now + limits.handlingTime
                lanes[lane.producer] = held
                return held
            } catch {
                guard error.code == .leaseLost else { throw error }
            }
        }
        lanes[lane.producer] = nil
        let name = "mailboxes/\(mailbox.name)/\(lane.producer)"
        guard
            case .taken(let lease) = try table.attempt(
                name, for: limits.handlingTime, waitedSince: nil, timeout: request.timeout,
                isCancelled: request.isCancelled)
        else { return nil }
        let held = HeldLane(lease: lease, until: now + limits.handlingTime)
        lanes[lane.producer] = held
        return held
    }

    /// Decides what becomes of a lane's next messages; nothing is written.
    private func plan<Value>(
        _ lane: MailLane, _ firsts: [UInt64], _ state: MailboxState.Lane?, _ held: HeldLane, _ limit: Int,
        _ store: SealedStore, _ decode: (borrowing AcceptedBlob, MailLane) throws(StoreError) -> Value
    ) throws(StoreError) -> Plan<Value> {
        let floor = store.reader.floorOfWrite(isNew: true)
        let isNew = state == nil
        var state = state ?? MailboxState.Lane(after: 0)
        state.skip(floor)
        var plan = Plan<Value>()
        var next = state.handled + 1
        let now = store.options.now().headerMilliseconds ?? 1
        for (segment, end) in try trusted(firsts, from: next, lane, in: store) {
            let keyID = segment.keyID
            for frame in segment.frames.sorted(by: { $0.number < $1.number })
            where frame.number >= next && frame.number < end {
                let number = frame.number
                if state.isHandled(number) || held.taken.contains(number) {
                    next = number + 1
                    continue
                }
                if floor.isFormer(number) || !segment.hasKey(frame, keyID) { continue }
                let isBlocked = state.failure(of: number).map { $0.notBefore > now } ?? false
                let isFar =
                    (held.taken.min() ?? plan.deliveries.first?.id.number)
                    .map { number - min($0, number) >= MailLimits.window } ?? false
                if isBlocked || isFar || plan.deliveries.count >= limit { return plan }
                do throws(StoreError) {
                    let blob = try opened(segment.blob(frame), lane, in: store)
                    if isNew, plan.last == nil { (next, plan.base) = (number, number - 1) }
                    let lost = ((floor.isFormer(next) ? max(next, floor.sequence + 1) : next)..<number)
                        .filter { !state.isHandled($0) && !held.taken.contains($0) }
                    plan.lost += lost
                    next = number + 1
                    plan.last = blob.opened.header
                    if blob.header.notAfter != 0, blob.header.notAfter <= now {
                        plan.expired.append(number)
                        continue
                    }
                    try add(blob, lane, number <= state.delivered, lost.count, to: &plan, in: store, decode)
                } catch {
                    // Bytes that no key opens are not a message.
                    if Self.foreign.contains(error.code) { continue }
                    plan.obstacle = error
                    return plan
                }
            }
        }
        return plan
    }

    private func opened(
        _ bytes: [UInt8], _ lane: MailLane, in store: SealedStore
    ) throws(StoreError) -> AcceptedBlob {
        let blob = AcceptedBlob(
            opened: try store.reader.openWhole(bytes, "take", lane.place, limit: MailSegment.largestSize), sealed: [])
        if store.reader.verdict(on: blob.opened.header) == .jumps {
            throw StoreError(
                .sequenceJump, "take", lane.place.name.text, "Message \(blob.header.sequence) is too far ahead.")
        }
        return blob
    }

    /// Adds an authentic message to the deliveries, or to the dead ones.
    private func add<Value>(
        _ blob: borrowing AcceptedBlob, _ lane: MailLane, _ isRedelivered: Bool, _ lost: Int,
        to plan: inout Plan<Value>,
        in store: SealedStore, _ decode: (borrowing AcceptedBlob, MailLane) throws(StoreError) -> Value
    ) throws(StoreError) {
        let number = blob.header.sequence
        do throws(StoreError) {
            let writer = try store.reader.requireAuthority(of: blob.opened, at: lane.place)
            plan.deliveries.append(
                MailDelivery(
                    value: try decode(blob, lane),
                    id: SealedStore.MailboxMessageID(producer: lane.producer, number: number),
                    provenance: Provenance(blob.header, writer: writer), isRedelivered: isRedelivered, lostBefore: lost)
            )
        } catch {
            // A newer program can read it, or one that has the present roster.
            guard error.isRejection, ![.tooNew, .rosterBehind].contains(error.code) else { throw error }
            plan.dead.append((number, "\(error.code.rawValue): \(error.reason)"))
        }
    }

    /// The reasons for which bytes are no message of this lane, written by no holder of its keys.
    private static let foreign: Set<StoreError.Code> = [
        .malformed, .unsupportedFormat, .wrongKind, .wrongGroup, .wrongName, .wrongSuite, .wrongCommitment, .tampered,
        .tooLarge, .retiredEpoch, .wrongEpoch,
    ]

    /// Returns the segments that may have messages from a number on, each with the first number of the next one. A
    /// segment whose name is not authentic is passed over.
    private func trusted(
        _ firsts: [UInt64], from number: UInt64, _ lane: MailLane, in store: SealedStore
    ) throws(StoreError) -> [(MailSegment, end: UInt64)] {
        var segments: [(MailSegment, end: UInt64)] = []
        var end = UInt64.max
        for first in firsts.reversed() {
            guard let segment = try store.mailSegment(lane, first: first),
                segment.hasCover(of: lane, first: first, in: store)
            else { continue }
            segments.append((segment, end))
            end = first
            if first <= number { break }
        }
        return segments.reversed()
    }

    /// Notes deliveries and what is never delivered; returns the deliveries that remain.
    private func begin<Value>(
        _ plan: Plan<Value>, _ lane: MailLane, _ held: HeldLane, in store: SealedStore, _ request: WriteRequest
    ) throws(StoreError) -> [MailDelivery<Value>] {
        guard let last = plan.last else { return [] }
        var request = request
        request.fence = held.lease.fence
        // A delivery that a power loss makes unknown is a delivery again, without its mark.
        if plan.lost.isEmpty, plan.expired.isEmpty, plan.dead.isEmpty { request.durability = .unsynced }
        let now = store.options.now().headerMilliseconds ?? 1
        let floor = store.reader.floorOfWrite(isNew: true)
        let attempts = try MailboxState.update(mailbox, in: store, request) { state -> [UInt64: Int] in
            var own = state.lanes[lane.producer] ?? MailboxState.Lane(after: plan.base)
            defer { state.lanes[lane.producer] = own }
            own.skip(floor)
            own.handle(plan.lost + plan.expired)
            for (number, reason) in plan.dead { own.bury(number, because: reason, at: now) }
            var attempts: [UInt64: Int] = [:]
            for delivery in plan.deliveries {
                let number = delivery.id.number
                let isFirst = number == plan.deliveries.first?.id.number && held.taken.allSatisfy { $0 > number }
                attempts[number] = own.deliver(number, isFirst: isFirst)
                guard attempts[number, default: 0] >= limits.maximumAttempts, own.dead.count < MailLimits.maximumDead
                else { continue }
                own.bury(
                    number, because: "delivered \(limits.maximumAttempts) times without an acknowledgement", at: now)
                attempts[number] = nil
            }
            return attempts
        }
        store.reader.acknowledge(last)
        return plan.deliveries.filter { attempts[$0.id.number] != nil }.map { delivery in
            var delivery = delivery
            delivery.failedAttempts = attempts[delivery.id.number] ?? 0
            return delivery
        }
    }
}

// MARK: Acknowledging

/// The result of handling a message.
enum MailOutcome {
    case handled
    /// To be delivered again, after the pause or the mailbox's own; dead after the limit of attempts.
    case retry(reason: String, after: Duration?)
    case dead(reason: String)

    var isRetry: Bool { if case .retry = self { true } else { false } }
}

extension MailReceiver {
    /// Notes what became of messages: one change for each producer.
    ///
    /// - Throws: `StoreError` `.leaseLost` if another reader has taken over the producer's messages since: they may be
    ///   delivered again. The results for other producers may be noted.
    func settle(
        _ outcomes: [(id: SealedStore.MailboxMessageID, outcome: MailOutcome)], in store: SealedStore,
        _ request: WriteRequest
    ) throws(StoreError) {
        try lanes.withLock { (lanes) throws(StoreError) in
            for (producer, outcomes) in Dictionary(grouping: outcomes, by: \.id.producer).sorted(by: { $0.key < $1.key }
            ) {
                let lane = try MailLane(mailbox, producer, in: store.group)
                guard let held = try hold(lane, &lanes, in: store, request) else {
                    throw StoreError(
                        .leaseLost, "acknowledge messages of", producer, "Another reader has taken them over.",
                        advice: "They may be delivered again; handle each message in less than the mailbox's time.")
                }
                try note(outcomes, lane, held, in: store, request)
                let first = outcomes.filter { $0.outcome.isRetry }.map(\.id.number).min() ?? .max
                let numbers = Set(outcomes.map(\.id.number))
                // Later messages wait for one that was given back: they are taken again behind it.
                let taken = lanes[producer]?.taken ?? []
                lanes[producer]?.taken = taken.filter { !numbers.contains($0) && $0 < first }
            }
        }
    }

    func isTaken(_ id: SealedStore.MailboxMessageID) -> Bool {
        lanes.withLock { $0[id.producer]?.taken.contains(id.number) ?? false }
    }

    /// Gives up the leases; messages that were taken and not acknowledged are delivered again, marked.
    func close(in store: SealedStore) {
        lanes.withLock { lanes in
            for lane in lanes.values { _ = try? LeaseTable(writer: store.writer).end(lane.lease, completed: false) }
            lanes = [:]
        }
    }

    private func note(
        _ outcomes: [(id: SealedStore.MailboxMessageID, outcome: MailOutcome)], _ lane: MailLane, _ held: HeldLane,
        in store: SealedStore,
        _ request: WriteRequest
    ) throws(StoreError) {
        var request = request
        request.fence = held.lease.fence
        let now = store.options.now().headerMilliseconds ?? 1
        let floor = store.reader.floorOfWrite(isNew: true)
        let state = try MailboxState.update(mailbox, in: store, request) { state in
            var own = state.lanes[lane.producer] ?? MailboxState.Lane(after: 0)
            defer { state.lanes[lane.producer] = own }
            own.skip(floor)
            // Only what was delivered: another number would hide a message that is sent later.
            for (id, outcome) in outcomes where id.number <= own.delivered && !own.isHandled(id.number) {
                switch outcome {
                case .handled: own.handle(CollectionOfOne(id.number))
                case .dead(let reason): own.bury(id.number, because: reason, at: now)
                case .retry(let reason, let pause):
                    let attempts = own.giveBack(id.number)
                    if attempts >= limits.maximumAttempts, own.dead.count < MailLimits.maximumDead {
                        own.bury(id.number, because: reason, at: now)
                    } else {
                        let pause = pause ?? limits.delay(afterAttempts: attempts)
                        own.delay(id.number, until: now + UInt64(max(0, pause.seconds) * 1000))
                    }
                }
            }
            return own
        }
        // Best effort: what stays is removed by a later call.
        try? store.removeHandledMail(lane, state, mailbox)
    }
}

extension SealedStore {
    /// The largest last segment that is kept when all of its messages are handled: it saves its producer a new file.
    private static let keptSize = 8 << 10

    /// Removes the segments of a lane whose messages are all handled, unless a sender or a rotation is at work.
    func removeHandledMail(
        _ lane: MailLane, _ state: MailboxState.Lane, _ mailbox: MailboxName
    ) throws(StoreError) {
        let firsts = try mailSegments(of: mailbox)[lane.producer] ?? []
        let needed = min(state.handled + 1, state.dead.map(\.number).min() ?? .max)
        guard let last = firsts.last, firsts.count > 1 ? firsts[1] <= needed : last <= state.handled else { return }
        let lock = try StoreError.onFiles("remove handled messages of", lane.producer) { () throws(FileError) in
            try reader.locks.lock(lane.place.lock, timeout: .zero)
        }
        guard lock.isStillNamed(), isInPlace else { return }
        for (first, next) in zip(firsts, firsts.dropFirst()) where next <= needed {
            try? container.root.remove(lane.path(first: first), durability: .unsynced)
        }
        guard let segment = try mailSegment(lane, first: last), segment.bytes.count > Self.keptSize,
            segment.frames.allSatisfy({ $0.number < needed })
        else { return }
        try? container.root.remove(segment.path, durability: .unsynced)
    }
}
