internal import FileMonitoring
internal import FoundationEssentials
internal import KeyVault
package import Sealing
internal import SharedFiles
internal import Synchronization
internal import SystemPackage

/// A mailbox without the type of its messages: each call follows the group's container.
package final class MailboxAccess: Sendable {
    package let mailbox: MailboxName
    package let producer: String
    let store: SealedStore
    private let limits: MailLimits
    private let sender: MailSender
    private let receiver: MailReceiver

    /// - Parameter producer: The executable's name unless stated.
    package init(
        _ name: String, as producer: String? = nil, in store: SealedStore, _ options: SealedStore.MailboxOptions
    ) throws(StoreError) {
        mailbox = try MailboxName(name)
        self.producer = producer ?? Self.programName
        self.store = store
        limits = MailLimits(options)
        sender = try MailSender(mailbox, self.producer, in: store.group, limits)
        receiver = MailReceiver(mailbox, limits)
    }

    /// The executable's name, as a name of a producer.
    private static var programName: String {
        let path = CommandLine.arguments.first.map { FilePath($0) }
        let name = (path?.lastComponent?.string ?? "").unicodeScalars.prefix(MailboxName.maximumSize).map { scalar in
            let isAllowed = scalar.isASCII && (scalar.properties.isAlphabetic || ("0"..."9").contains(scalar))
            return isAllowed ? Character(scalar) : "-"
        }
        return name.isEmpty ? "program" : String(name)
    }

    func request(
        _ durability: Durability? = nil, _ timeout: Duration? = nil, _ call: BlockingCall? = nil
    ) -> WriteRequest {
        store.writer.request(
            durability: durability, timeout: timeout, isCancelled: call.map { call in { call.isCancelled } })
    }

    /// Sends an encoded message.
    package func send(_ payload: RecordPayload) throws(StoreError) -> SealedStore.MailboxMessageID {
        try store.writer.requireSafeStructure(of: payload, named: mailbox.name)
        return try send(payload, request())
    }

    func send(_ payload: RecordPayload, _ request: WriteRequest) throws(StoreError) -> SealedStore.MailboxMessageID {
        let number = try store.onPresentContainer { store throws(StoreError) in
            try sender.send(payload, in: store, request)
        }
        return SealedStore.MailboxMessageID(producer: producer, number: number)
    }

    func take<Value>(
        upTo count: Int, _ request: WriteRequest,
        _ decode: (borrowing AcceptedBlob, MailLane, RecordReader) throws(StoreError) -> Value
    ) throws(StoreError) -> [MailDelivery<Value>] {
        try store.onPresentContainer { store throws(StoreError) in
            try receiver.take(upTo: min(max(0, count), MailLimits.maximumBatch), in: store, request) {
                blob, lane throws(StoreError) in try decode(blob, lane, store.reader)
            }
        }
    }

    func settle(
        _ outcomes: [(id: SealedStore.MailboxMessageID, outcome: MailOutcome)], _ request: WriteRequest
    ) throws(StoreError) {
        if outcomes.isEmpty { return }
        try store.onPresentContainer { store throws(StoreError) in
            try receiver.settle(outcomes, in: store, request)
        }
    }

    func isTaken(_ id: SealedStore.MailboxMessageID) -> Bool { receiver.isTaken(id) }

    func release(_ ids: [SealedStore.MailboxMessageID]) { receiver.release(ids) }

    func close() {
        _ = try? store.onPresentContainer { store throws(StoreError) in receiver.close(in: store) }
    }

    /// The directory of the mailbox, for a watch.
    var directoryPath: String { "\(store.containerPath)/\(mailbox.directory)" }
}

extension MailLimits {
    init(_ options: SealedStore.MailboxOptions) {
        maximumWaiting = max(1, options.maximumWaiting)
        maximumAttempts = max(1, options.maximumAttempts)
        retryDelay = max(.zero, options.retryDelay)
        handlingTime = max(.seconds(1), options.handlingTime)
    }
}

/// A message that was taken, with its decoded value.
struct MailDelivery<Value> {
    let value: Value
    let id: SealedStore.MailboxMessageID
    let provenance: Provenance
    var isRedelivered = false
    var failedAttempts = 0
    let lostBefore: Int
}

/// Waits for messages: for a change in the mailbox's directory, and a second at most, because a pause or another
/// reader's lease that ends changes nothing there.
final class MailboxSignal: Sendable {
    private let bell = Mutex<CheckedContinuation<Void, Never>?>(nil)
    private let isRung = Atomic(false)
    private let registration = Mutex<MonitorRegistration?>(nil)

    init(_ access: MailboxAccess) {
        let watch = try? FileMonitor.shared.watch(access.directoryPath) { [weak self] _ in self?.ring() }
        registration.withLock { $0 = watch }
    }

    private func ring() {
        isRung.store(true, ordering: .relaxed)
        bell.withLock { $0.take() }?.resume()
    }

    func wait() async {
        let timer = Task { [weak self] in
            guard (try? await Task.sleep(for: .seconds(1))) != nil else { return }
            self?.bell.withLock { $0.take() }?.resume()
        }
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                bell.withLock { $0 = continuation }
                if isRung.exchange(false, ordering: .relaxed) || Task.isCancelled {
                    bell.withLock { $0.take() }?.resume()
                }
            }
        } onCancel: {
            bell.withLock { $0.take() }?.resume()
        }
        timer.cancel()
        isRung.store(false, ordering: .relaxed)
    }
}

// MARK: Looking

/// A message that waits or is dead, for tools.
package struct MailLetter<Value> {
    package let id: SealedStore.MailboxMessageID
    package let header: BlobHeader?
    package let reason: String
    package let at: UInt64
    package let value: Value?
}

/// The state of one producer's messages.
package struct MailLaneStatus {
    package let producer: String
    package let waiting: Int
    package let dead: Int
    package let size: Int
    /// The time at which the first one that waits was sent, in milliseconds since 1970; nil if none waits.
    package let oldest: UInt64?
}

extension MailboxAccess {
    /// Returns the state of each producer's messages. The numbers are those of headers that are not verified.
    package func status() throws(StoreError) -> [MailLaneStatus] {
        try store.onPresentContainer { store throws(StoreError) in
            let state = try MailboxState.read(mailbox, in: store)
            var statuses: [MailLaneStatus] = []
            for (producer, firsts) in try store.mailSegments(of: mailbox).sorted(by: { $0.key < $1.key }) {
                let lane = try MailLane(mailbox, producer, in: store.group)
                let own = state.lanes[producer]
                var waiting: Set<UInt64> = []
                var (size, oldest) = (0, UInt64.max)
                for first in firsts {
                    guard let segment = try store.mailSegment(lane, first: first) else { continue }
                    size += segment.bytes.count
                    for frame in segment.frames where own?.isHandled(frame.number) != true {
                        waiting.insert(frame.number)
                        let header = try? UnverifiedHeader(parsing: segment.blob(frame)).claimed
                        oldest = min(oldest, header?.sealedAt ?? .max)
                    }
                }
                statuses.append(
                    MailLaneStatus(
                        producer: producer, waiting: waiting.count, dead: own?.dead.count ?? 0, size: size,
                        oldest: waiting.isEmpty ? nil : oldest))
            }
            return statuses
        }
    }

    /// Returns the dead letters.
    func dead<Value>(
        _ decode: (borrowing AcceptedBlob, MailLane, RecordReader) throws(StoreError) -> Value
    ) throws(StoreError) -> [MailLetter<Value>] {
        try store.onPresentContainer { store throws(StoreError) in
            let state = try MailboxState.read(mailbox, in: store)
            let segments = try store.mailSegments(of: mailbox)
            var letters: [MailLetter<Value>] = []
            for (producer, own) in state.lanes.sorted(by: { $0.key < $1.key }) where !own.dead.isEmpty {
                let lane = try MailLane(mailbox, producer, in: store.group)
                let found = try store.authenticMail(
                    lane, segments[producer] ?? [], Set(own.dead.map(\.number)), decode)
                for dead in own.dead {
                    let letter = found[dead.number]
                    letters.append(
                        MailLetter(
                            id: SealedStore.MailboxMessageID(producer: producer, number: dead.number),
                            header: letter?.header, reason: dead.reason, at: dead.at, value: letter?.value))
                }
            }
            return letters
        }
    }

    /// Returns messages that wait, without taking them: those that `take` would return.
    func waiting<Value>(
        limit: Int, _ decode: (borrowing AcceptedBlob, MailLane, RecordReader) throws(StoreError) -> Value
    ) throws(StoreError) -> [MailLetter<Value>] {
        try store.onPresentContainer { store throws(StoreError) in
            let state = try MailboxState.read(mailbox, in: store)
            let floor = store.reader.floorOfWrite(isNew: true)
            var letters: [MailLetter<Value>] = []
            for (producer, firsts) in try store.mailSegments(of: mailbox).sorted(by: { $0.key < $1.key }) {
                let lane = try MailLane(mailbox, producer, in: store.group)
                let own = state.lane(producer)
                var last = own?.handled ?? 0
                var reading = LaneReading(lane, from: last + 1, firsts)
                while letters.count < limit, let (segment, range) = try reading.next(in: store) {
                    for frame in segment.frames.sorted(by: { $0.number < $1.number })
                    where letters.count < limit && frame.number > last && range.contains(frame.number)
                        && own?.isHandled(frame.number) != true && !floor.isFormer(frame.number)
                        && segment.hasKey(frame, segment.keyID)
                    {
                        guard let blob = try store.message(segment.blob(frame), lane, "read") else { continue }
                        last = frame.number
                        letters.append(
                            MailLetter(
                                id: SealedStore.MailboxMessageID(producer: producer, number: last),
                                header: blob.header, reason: "", at: blob.header.sealedAt,
                                value: try? decode(blob, lane, store.reader)))
                    }
                }
            }
            return letters
        }
    }

    /// Discards dead letters.
    func discard(_ ids: [SealedStore.MailboxMessageID], _ request: WriteRequest) throws(StoreError) {
        try store.onPresentContainer { store throws(StoreError) in
            let state = try MailboxState.update(mailbox, in: store, request) { state in
                for id in ids { state.lanes[id.producer]?.dead.removeAll { $0.number == id.number } }
                return state
            }
            for producer in Set(ids.map(\.producer)) {
                guard let own = state.lanes[producer] else { continue }
                try? store.removeHandledMail(try MailLane(mailbox, producer, in: store.group), own, mailbox)
            }
        }
    }
}

extension SealedStore {
    /// Returns authentic messages of a lane by their numbers; those that cannot be decoded have no value.
    func authenticMail<Value>(
        _ lane: MailLane, _ firsts: [UInt64], _ numbers: Set<UInt64>,
        _ decode: (borrowing AcceptedBlob, MailLane, RecordReader) throws(StoreError) -> Value
    ) throws(StoreError) -> [UInt64: (header: BlobHeader, value: Value?)] {
        var found: [UInt64: (header: BlobHeader, value: Value?)] = [:]
        for first in firsts {
            guard let segment = try mailSegment(lane, first: first) else { continue }
            for frame in segment.frames where numbers.contains(frame.number) && found[frame.number] == nil {
                guard let blob = try message(segment.blob(frame), lane, "read") else { continue }
                found[frame.number] = (blob.header, try? decode(blob, lane, reader))
            }
        }
        return found
    }
}
