public import FoundationEssentials
internal import KeyVault
internal import Sealing
public import SharedFiles
internal import Synchronization

extension SealedStore {
    /// Opens a mailbox of the group; nothing is created before its first message.
    ///
    /// - Parameters:
    ///   - type: The type of its messages.
    ///   - name: The mailbox's name: one segment of a record's name, at most 64 bytes; the type's `recordName` unless
    ///     stated.
    ///   - producer: The name under which this program sends, by the same rules; its executable's name unless stated.
    ///     Messages of one producer are delivered in order.
    ///   - options: Limits, and the times of repeated deliveries.
    /// - Throws: `StoreError` `.invalidName`.
    public func mailbox<Message: SealedRecord>(
        of type: Message.Type, named name: String = Message.recordName, as producer: String? = nil,
        options: MailboxOptions = MailboxOptions()
    ) throws(StoreError) -> Mailbox<Message> {
        Mailbox(try MailboxAccess(name, as: producer, in: self, options))
    }

    /// A queue of messages between the programs of a group, such as what a Share Extension hands to its app.
    ///
    /// A message is delivered at least once: again, and marked, if its reader was killed or gave it back before it was
    /// acknowledged; never again once it was. The messages of one producer arrive in order, and are given to one reader
    /// at a time. A message whose send has returned survives kills, restarts and rotations. `docs/guides/mailboxes.md` has the
    /// details.
    ///
    /// A message is sealed, validated and, where a roster governs the name, signed like a record, and bound to its
    /// mailbox, producer and number. Messages have at most 1 MiB; larger contents are a sealed file whose name is sent.
    public final class Mailbox<Message: SealedRecord>: Sendable {
        /// The mailbox's name.
        public var name: String { access.mailbox.name }
        /// The name under which this program sends.
        public var producer: String { access.producer }
        let access: MailboxAccess

        init(_ access: MailboxAccess) { self.access = access }
    }

    /// The limits of a mailbox, and the times of repeated deliveries. All programs that use it state the same.
    public struct MailboxOptions: Sendable, Hashable {
        /// The most messages of one producer that wait; beyond it a send is refused with `.quotaExceeded`.
        public var maximumWaiting = 10_000
        /// The number of deliveries without an acknowledgement after which a message is a dead letter.
        public var maximumAttempts = 5
        /// The pause before a message that was given back is delivered again. It doubles with each time, up to an hour.
        public var retryDelay = Duration.seconds(1)
        /// The time within which a reader acknowledges what it took; then it is delivered again. Another reader may take
        /// over the producer when twice that time has passed.
        public var handlingTime = Duration.seconds(60)

        /// Creates options with the defaults above.
        public init() {}
    }

    /// The identity of a message within its mailbox.
    public struct MailboxMessageID: Sendable, Hashable, CustomStringConvertible {
        /// The name under which it was sent.
        public let producer: String
        /// Its number: one more than that of the producer's message before.
        public let number: UInt64

        /// `producer/number`.
        public var description: String { "\(producer)/\(number)" }
    }
}

extension SealedStore.Mailbox {
    /// A message that was taken.
    public struct Delivery: Sendable {
        /// The message.
        public let message: Message
        /// Its identity.
        public let id: SealedStore.MailboxMessageID
        /// Its number as sequence, the time of sending, its epoch and its writer.
        public let provenance: Provenance
        /// It was delivered before, and not acknowledged.
        public let isRedelivery: Bool
        /// The number of earlier deliveries that failed: it was given back, or was the first one of a reader that was
        /// killed.
        public let failedAttempts: Int
        /// The number of the producer's messages directly before it that were lost: removed by another program.
        public let lostBefore: Int
    }

    /// A message that is kept for a person: no reader gets it.
    public struct DeadLetter: Sendable {
        /// Its identity.
        public let id: SealedStore.MailboxMessageID
        /// The reason that its reader stated, or why no reader can use it.
        public let reason: String
        /// The time at which it became one.
        public let since: Date
        /// The message; nil if it cannot be read any more.
        public let message: Message?
    }
}

// MARK: Sending

extension SealedStore.Mailbox {
    /// Sends a message.
    ///
    /// - Parameters:
    ///   - message: The message; its `expiresAt` is the time from which on it is not delivered.
    ///   - durability: The store's unless stated.
    ///   - timeout: The time limit for other programs that send under this name; the store's limit unless stated.
    /// - Returns: The message's identity.
    /// - Throws: `StoreError`: `.quotaExceeded` if too many messages wait; `.tooLarge`; `.noSpace`; `.invalid`,
    ///   `.unencodable`, `.notAuthorized`, as a write of a record. Nothing was sent then, and nothing was lost. After
    ///   `.durabilityUnknown` and `.containerMissing` it may have been sent.
    @discardableResult
    public func send(
        _ message: Message, durability: Durability? = nil, timeout: Duration? = nil
    ) throws(StoreError) -> SealedStore.MailboxMessageID {
        try send(message, access.request(durability, timeout))
    }

    /// Sends a message; see the form without `async`.
    @discardableResult
    public func send(
        _ message: Message, durability: Durability? = nil, timeout: Duration? = nil
    ) async throws(StoreError) -> SealedStore.MailboxMessageID {
        try await offload(timeout) { call throws(StoreError) in
            try self.send(message, self.access.request(durability, timeout, call))
        }
    }

    private func send(_ message: Message, _ request: WriteRequest) throws(StoreError) -> SealedStore.MailboxMessageID {
        let payload = try access.store.writer.encode(message, named: name)
        defer { payload.wipe() }
        return try access.send(payload, request)
    }

    private func offload<Value: Sendable>(
        _ timeout: Duration?, _ body: @escaping @Sendable (BlockingCall) throws(StoreError) -> Value
    ) async throws(StoreError) -> Value {
        try await SealedStore.offload(atMost: timeout ?? access.store.options.lockTimeout, body)
    }
}

// MARK: Receiving

extension SealedStore.Mailbox {
    /// Takes messages that wait, each producer's in order; none if none waits, or other readers hold their producers.
    ///
    /// Acknowledge each delivery, or give it back, within the options' `handlingTime`. A message that cannot be decoded
    /// or is not valid becomes a dead letter.
    /// - Parameter count: The largest number of messages, at most 100.
    /// - Throws: `StoreError`: `.tooNew` for a message that a newer program sent; `.locked`; `.missing` if the
    ///   mailbox's record was removed; the errors of reading and writing that record.
    public func take(upTo count: Int = 100) throws(StoreError) -> [Delivery] {
        try take(upTo: count, access.request())
    }

    /// Takes messages that wait; see the form without `async`.
    public func take(upTo count: Int = 100) async throws(StoreError) -> [Delivery] {
        try await offload(nil) { call throws(StoreError) in
            try self.take(upTo: count, self.access.request(nil, nil, call))
        }
    }

    private func take(upTo count: Int, _ request: WriteRequest) throws(StoreError) -> [Delivery] {
        let taken = try access.take(upTo: count, request) { blob, lane, reader throws(StoreError) in
            let snapshot = try reader.decodedSnapshot(of: Message.self, from: blob, at: lane.place)
            try reader.validate(snapshot.value, named: lane.place.name.text)
            return snapshot.value
        }
        return taken.map { taken in
            Delivery(
                message: taken.value, id: taken.id, provenance: taken.provenance, isRedelivery: taken.isRedelivered,
                failedAttempts: taken.failedAttempts, lostBefore: taken.lostBefore)
        }
    }

    /// Acknowledges messages: they are not delivered again.
    ///
    /// - Throws: `StoreError` `.leaseLost` if another reader has taken over their producer since: they may be delivered
    ///   again.
    public func acknowledge(_ deliveries: [Delivery]) throws(StoreError) {
        try access.settle(deliveries.map { ($0.id, .handled) }, access.request())
    }

    /// Acknowledges messages; see the form without `async`.
    public func acknowledge(_ deliveries: [Delivery]) async throws(StoreError) {
        try await offload(nil) { call throws(StoreError) in
            try self.access.settle(deliveries.map { ($0.id, .handled) }, self.access.request(nil, nil, call))
        }
    }

    /// Gives a message back: it is delivered again after a pause, and the producer's later ones wait for it. They are
    /// delivered again behind it if they were taken with it and not acknowledged. After the options' number of attempts it
    /// becomes a dead letter with this reason.
    ///
    /// - Parameters:
    ///   - delivery: The message.
    ///   - reason: Why it was not handled, for a person; at most 200 characters are kept.
    ///   - pause: The pause; by the options unless stated.
    public func retry(_ delivery: Delivery, because reason: String, after pause: Duration? = nil) throws(StoreError) {
        try access.settle([(delivery.id, .retry(reason: reason, after: pause))], access.request())
    }

    /// Gives a message back; see the form without `async`.
    public func retry(
        _ delivery: Delivery, because reason: String, after pause: Duration? = nil
    ) async throws(StoreError) {
        try await offload(nil) { call throws(StoreError) in
            try self.access.settle(
                [(delivery.id, .retry(reason: reason, after: pause))], self.access.request(nil, nil, call))
        }
    }

    /// Makes a message a dead letter.
    public func reject(_ delivery: Delivery, because reason: String) throws(StoreError) {
        try access.settle([(delivery.id, .dead(reason: reason))], access.request())
    }

    /// Ends reading: a message that was taken and not acknowledged is delivered again, marked.
    public func close() { access.close() }

    /// The messages, as they arrive. One that was returned and not acknowledged is delivered again after the options'
    /// `handlingTime`.
    public var deliveries: Deliveries { Deliveries(mailbox: self) }

    /// The messages of a mailbox, as they arrive. The sequence ends only with its task.
    public struct Deliveries: AsyncSequence, Sendable {
        /// A message.
        public typealias Element = Delivery
        /// The reason why messages cannot be taken.
        public typealias Failure = StoreError

        let mailbox: SealedStore.Mailbox<Message>

        /// Creates an iterator.
        public func makeAsyncIterator() -> Iterator { Iterator(mailbox: mailbox) }

        /// An iterator from one message to the next.
        public struct Iterator: AsyncIteratorProtocol {
            private let mailbox: SealedStore.Mailbox<Message>
            private let waiting: Prefetched
            private var signal: MailboxSignal?

            init(mailbox: SealedStore.Mailbox<Message>) {
                self.mailbox = mailbox
                waiting = Prefetched(mailbox.access)
            }

            /// The messages that were taken and not returned; they are taken again if the iteration ends.
            private final class Prefetched: Sendable {
                private let access: MailboxAccess
                private let deliveries = Mutex<[Delivery]>([])

                init(_ access: MailboxAccess) { self.access = access }

                deinit { access.release(deliveries.withLock { $0 }.map(\.id)) }

                var isEmpty: Bool { deliveries.withLock { $0.isEmpty } }

                func put(_ taken: [Delivery]) { deliveries.withLock { $0 = taken } }

                /// A producer's later messages wait for one that was given back.
                func next() -> Delivery? {
                    deliveries.withLock { deliveries in
                        deliveries.removeAll { !access.isTaken($0.id) }
                        return deliveries.isEmpty ? nil : deliveries.removeFirst()
                    }
                }
            }

            /// Returns the next message; nil when the task is cancelled.
            public mutating func next() async throws(StoreError) -> Delivery? { try await next(isolation: nil) }

            /// Returns the next message; nil when the task is cancelled. Files are never read on the caller's actor.
            public mutating func next(
                isolation actor: isolated (any Actor)?
            ) async throws(StoreError) -> Delivery? {
                while !Task.isCancelled {
                    if let delivery = waiting.next() { return delivery }
                    if signal == nil { signal = MailboxSignal(mailbox.access) }
                    do throws(StoreError) { waiting.put(try await mailbox.take()) } catch {
                        if error.code == .cancelled { return nil }
                        // Another program is at work, or a message waits for a newer one.
                        guard [.lockTimeout, .leaseLost, .tooNew, .rosterBehind].contains(error.code) else {
                            throw error
                        }
                    }
                    if waiting.isEmpty { await signal?.wait() }
                }
                return nil
            }
        }
    }
}

// MARK: Dead letters

extension SealedStore.Mailbox {
    /// Returns the dead letters, by producer and number.
    public func deadLetters() throws(StoreError) -> [DeadLetter] {
        try access.dead { blob, lane, reader throws(StoreError) in
            try reader.decodedSnapshot(of: Message.self, from: blob, at: lane.place).value
        }.map { letter in
            DeadLetter(
                id: letter.id, reason: letter.reason, since: Date(timeIntervalSince1970: Double(letter.at) / 1000),
                message: letter.value)
        }
    }

    /// Discards dead letters for good.
    public func discard(_ letters: [DeadLetter]) throws(StoreError) {
        try access.discard(letters.map(\.id), access.request())
    }
}
