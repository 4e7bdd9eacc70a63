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
    }

    /// The messages of one lane that are to be delivered, and those that never will be.
    private struct Plan<Value> {
        var deliveries: [MailDelivery<Value>] = []
        var lost: [MailboxState.Span] = []
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
    /// The messages that were taken and neither acknowledged nor given back, each until its time is up.
    private let taken = Mutex<[String: [UInt64: ContinuousClock.Instant]]>([:])
    /// The producer whose messages were taken last: the next call begins behind it.
    private let turn = Mutex<String>("")

    init(_ mailbox: MailboxName, _ limits: MailLimits) {
        self.mailbox = mailbox
        self.limits = limits
    }

    // MARK: Taken messages

    /// Returns `true` for a message that this reader took, and has time to handle.
    func isTaken(_ id: SealedStore.MailboxMessageID) -> Bool {
        taken.withLock { $0[id.producer]?[id.number].map { $0 > .now } ?? false }
    }

    /// Forgets messages that no caller got: they are taken again.
    func release(_ ids: [SealedStore.MailboxMessageID]) {
        taken.withLock { taken in
            for id in ids { taken[id.producer]?[id.number] = nil }
        }
    }

    private func taken(of producer: String) -> Set<UInt64> {
        taken.withLock { taken in
            let now = ContinuousClock.now
            taken[producer] = taken[producer]?.filter { $0.value > now }
            return Set((taken[producer] ?? [:]).keys)
        }
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
        lanes.withLock { lanes in
            for producer in order(of: segments.keys.sorted()) where deliveries.count < limit {
                do throws(StoreError) {
                    // Without the lease first: a producer of whom nothing waits is left to other readers.
                    guard try hasWaiting(producer, segments[producer] ?? [], state, in: store) else { continue }
                    deliveries += try take(
                        upTo: limit - deliveries.count, of: producer, &lanes, &obstacle, in: store, request, decode)
                } catch {
                    // The messages of the other producers are delivered: an error must not hide them.
                    if error.code == .leaseLost { lanes[producer] = nil } else { obstacle = obstacle ?? error }
                }
            }
        }
        if deliveries.isEmpty, let obstacle { throw obstacle }
        return deliveries
    }

    private func take<Value>(
        upTo limit: Int, of producer: String, _ lanes: inout [String: HeldLane], _ obstacle: inout StoreError?,
        in store: SealedStore, _ request: WriteRequest,
        _ decode: (borrowing AcceptedBlob, MailLane) throws(StoreError) -> Value
    ) throws(StoreError) -> [MailDelivery<Value>] {
        let lane = try MailLane(mailbox, producer, in: store.group)
        guard let held = try hold(lane, &lanes, in: store, request) else { return [] }
        // Read under the lease: another reader may have held it.
        let state = try MailboxState.read(mailbox, in: store).lane(producer)
        let taken = taken(of: producer)
        let plan = try plan(lane, state, taken, limit, store, decode)
        obstacle = obstacle ?? plan.obstacle
        let deliveries = try begin(plan, lane, held, taken, in: store, request)
        if deliveries.isEmpty, !plan.deliveries.isEmpty {
            // All of them are dead letters now: those behind them are next.
            return try take(upTo: limit, of: producer, &lanes, &obstacle, in: store, request, decode)
        }
        let end = ContinuousClock.now + limits.handlingTime
        self.taken.withLock { taken in
            for delivery in deliveries { taken[producer, default: [:]][delivery.id.number] = end }
        }
        if !deliveries.isEmpty { turn.withLock { $0 = producer } }
        return deliveries
    }

    /// Returns the producers, those behind the last one first, so that none has to wait for the others' end.
    private func order(of producers: [String]) -> [String] {
        let last = turn.withLock { $0 }
        return producers.filter { $0 > last } + producers.filter { $0 <= last }
    }

    /// Returns `true` if a segment claims a message that is neither handled nor taken.
    private func hasWaiting(
        _ producer: String, _ firsts: [UInt64], _ state: MailboxState, in store: SealedStore
    ) throws(StoreError) -> Bool {
        let lane = try MailLane(mailbox, producer, in: store.group)
        let (state, taken) = (state.lane(producer), taken(of: producer))
        var reading = LaneReading(lane, from: (state?.handled ?? 0) + 1, firsts)
        while let (segment, range) = try reading.next(in: store) {
            let isWaiting = segment.frames.contains { frame in
                range.contains(frame.number) && state?.isHandled(frame.number) != true
                    && !taken.contains(frame.number)
            }
            if isWaiting { return true }
        }
        return false
    }

    private func firsts(_ lane: MailLane, in store: SealedStore) throws(StoreError) -> [UInt64] {
        try store.mailSegments(of: mailbox)[lane.producer] ?? []
    }

    /// Returns the lease of a lane; nil while another reader holds it. It lasts twice the time that a reader has, and is
    /// renewed when half of it has passed.
    private func hold(
        _ lane: MailLane, _ lanes: inout [String: HeldLane], in store: SealedStore, _ request: WriteRequest
    ) throws(StoreError) -> HeldLane? {
        let table = LeaseTable(writer: store.writer)
        let (now, duration) = (ContinuousClock.now, limits.handlingTime * 2)
        if var held = lanes[lane.producer], held.lease.fence.container == store.reader.anchor.number {
            if held.until - now > limits.handlingTime { return held }
            do throws(StoreError) {
                try table.renew(held.lease.fence, for: duration)
                held.until = now + duration
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
                name, for: duration, waitedSince: nil, timeout: request.timeout, isCancelled: request.isCancelled)
        else { return nil }
        let held = HeldLane(lease: lease, until: now + duration)
        lanes[lane.producer] = held
        return held
    }

    /// Decides what becomes of a lane's next messages; nothing is written.
    private func plan<Value>(
        _ lane: MailLane, _ state: MailboxState.Lane?, _ taken: Set<UInt64>, _ limit: Int, _ store: SealedStore,
        _ decode: (borrowing AcceptedBlob, MailLane) throws(StoreError) -> Value
    ) throws(StoreError) -> Plan<Value> {
        let floor = store.reader.floorOfWrite(isNew: true)
        let isNew = state == nil
        var state = state ?? MailboxState.Lane(after: 0)
        state.skip(floor)
        var plan = Plan<Value>()
        var next = state.handled + 1
        let now = store.options.now().headerMilliseconds ?? 1
        var reading = LaneReading(lane, from: next, try firsts(lane, in: store))
        while let (segment, range) = try reading.next(in: store) {
            for frame in segment.frames.sorted(by: { $0.number < $1.number })
            where frame.number >= next && range.contains(frame.number) && segment.hasKey(frame, segment.keyID) {
                let number = frame.number
                if state.isHandled(number) || taken.contains(number) {
                    next = number + 1
                    continue
                }
                if floor.isFormer(number) { continue }
                let first = taken.min() ?? plan.deliveries.first?.id.number ?? number
                let isFar = number - min(first, number) >= MailLimits.window
                // The first message after a failure is delivered alone: if it kills its reader, it takes no other along.
                let isSuspect = plan.deliveries.first.map { (state.failure(of: $0.id.number)?.attempts ?? 0) > 0 }
                if state.isHeldBack(number, at: now) || isFar || isSuspect == true || plan.deliveries.count >= limit {
                    return plan
                }
                do throws(StoreError) {
                    guard let blob = try store.message(segment.blob(frame), lane, "take") else { continue }
                    if isNew, plan.last == nil { (next, plan.base) = (number, number - 1) }
                    let start = floor.isFormer(next) ? max(next, floor.sequence + 1) : next
                    var lost = 0
                    if start < number {
                        lost = Int(clamping: number - start) - state.handledCount(in: start..<number)
                        plan.lost.append(MailboxState.Span(first: start, last: number - 1))
                    }
                    next = number + 1
                    plan.last = blob.opened.header
                    if blob.header.notAfter != 0, blob.header.notAfter <= now {
                        plan.expired.append(number)
                    } else {
                        try add(blob, lane, lost, to: &plan, decode)
                    }
                } catch {
                    plan.obstacle = error
                    return plan
                }
            }
        }
        return plan
    }

    /// Adds an authentic message to the deliveries, or to the dead ones.
    private func add<Value>(
        _ blob: borrowing AcceptedBlob, _ lane: MailLane, _ lost: Int, to plan: inout Plan<Value>,
        _ decode: (borrowing AcceptedBlob, MailLane) throws(StoreError) -> Value
    ) throws(StoreError) {
        let number = blob.header.sequence
        do throws(StoreError) {
            plan.deliveries.append(
                MailDelivery(
                    value: try decode(blob, lane),
                    id: SealedStore.MailboxMessageID(producer: lane.producer, number: number),
                    provenance: Provenance(blob.header, writer: blob.writer), lostBefore: lost))
        } catch {
            // A newer program can read it.
            guard error.isRejection, error.code != .tooNew else { throw error }
            plan.dead.append((number, "\(error.code.rawValue): \(error.reason)"))
        }
    }

    /// Notes deliveries and what is never delivered; returns the deliveries that remain.
    private func begin<Value>(
        _ plan: Plan<Value>, _ lane: MailLane, _ held: HeldLane, _ taken: Set<UInt64>, in store: SealedStore,
        _ request: WriteRequest
    ) throws(StoreError) -> [MailDelivery<Value>] {
        guard let last = plan.last else { return [] }
        var request = request
        request.fence = held.lease.fence
        // A full disk does not stop reading, which makes room.
        request.isReduction = true
        let now = store.options.now().headerMilliseconds ?? 1
        let floor = store.reader.floorOfWrite(isNew: true)
        let known = try MailboxState.update(mailbox, in: store, request) { state -> [UInt64: (Bool, Int)] in
            var own = state.lane(lane.producer) ?? MailboxState.Lane(after: plan.base)
            defer { state.lanes[lane.producer] = own }
            own.skip(floor)
            own.handle(plan.lost + plan.expired.map { MailboxState.Span(first: $0, last: $0) })
            for (number, reason) in plan.dead where own.mayBury { own.bury(number, because: reason, at: now) }
            var known: [UInt64: (Bool, Int)] = [:]
            let isOther = own.reader != held.lease.fence.number
            own.reader = held.lease.fence.number
            for delivery in plan.deliveries where !own.isHandled(delivery.id.number) {
                let number = delivery.id.number
                let isFirst = number == plan.deliveries.first?.id.number && taken.allSatisfy { $0 > number }
                let isRedelivered = number <= own.delivered
                let attempts = own.deliver(number, hasFailed: isFirst && isOther)
                if attempts >= limits.maximumAttempts, own.mayBury {
                    own.bury(number, because: "delivered \(attempts) times without an acknowledgement", at: now)
                } else {
                    known[number] = (isRedelivered, attempts)
                }
            }
            return known
        }
        store.reader.acknowledge(last)
        return plan.deliveries.compactMap { delivery in
            guard let (isRedelivered, attempts) = known[delivery.id.number] else { return nil }
            var delivery = delivery
            (delivery.isRedelivered, delivery.failedAttempts) = (isRedelivered, attempts)
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
            let lists = Dictionary(grouping: outcomes, by: \.id.producer).sorted { $0.key < $1.key }
            for (producer, outcomes) in lists {
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
                taken.withLock { taken in
                    taken[producer] = taken[producer]?.filter { !numbers.contains($0.key) && $0.key < first }
                }
            }
        }
    }

    /// Gives up the leases; messages that were taken and not acknowledged are delivered again, marked.
    func close(in store: SealedStore) {
        lanes.withLock { lanes in
            for lane in lanes.values { _ = try? LeaseTable(writer: store.writer).end(lane.lease, completed: false) }
            lanes = [:]
        }
        taken.withLock { $0 = [:] }
    }

    private func note(
        _ outcomes: [(id: SealedStore.MailboxMessageID, outcome: MailOutcome)], _ lane: MailLane, _ held: HeldLane,
        in store: SealedStore, _ request: WriteRequest
    ) throws(StoreError) {
        var request = request
        request.fence = held.lease.fence
        request.isReduction = true
        let now = store.options.now().headerMilliseconds ?? 1
        let floor = store.reader.floorOfWrite(isNew: true)
        let (state, isFull) = try MailboxState.update(mailbox, in: store, request) { state in
            var (own, isFull) = (state.lane(lane.producer) ?? MailboxState.Lane(after: 0), false)
            defer { state.lanes[lane.producer] = own }
            own.skip(floor)
            // Only what was delivered: another number would hide a message that is sent later.
            for (id, outcome) in outcomes where id.number <= own.delivered && !own.isHandled(id.number) {
                switch outcome {
                case .handled: own.handle([MailboxState.Span(first: id.number, last: id.number)])
                case .dead(let reason):
                    if own.mayBury { own.bury(id.number, because: reason, at: now) } else { isFull = true }
                case .retry(let reason, let pause):
                    let attempts = own.giveBack(id.number)
                    if attempts >= limits.maximumAttempts, own.mayBury {
                        own.bury(id.number, because: reason, at: now)
                    } else {
                        own.delay(id.number, by: pause ?? limits.delay(afterAttempts: attempts), at: now)
                    }
                }
            }
            return (own, isFull)
        }
        // Best effort: what stays is removed by a later call.
        try? store.removeHandledMail(lane, state, mailbox)
        if isFull {
            throw StoreError(
                .quotaExceeded, "reject messages of", lane.producer,
                "It has \(MailboxState.Lane.maximumDead) dead letters.",
                advice: "Discard some: sealctl mailbox dead shows them.")
        }
    }
}
