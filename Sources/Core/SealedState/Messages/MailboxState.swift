internal import AppGroups
internal import FoundationEssentials
internal import KeyVault
internal import Sealing
internal import SharedFiles

/// The handled messages of a mailbox: its sealed record, which its readers change under its lock.
///
/// A message that it counts as handled is never delivered again, also where its segment is put back.
struct MailboxState: SealedRecord, Equatable {
    static let recordName = "\(RecordName.reservedSegment)/mailboxes"
    static let schemaVersion = 1
    static let protection = RecordProtection.afterFirstUnlock

    /// The state of each producer's messages.
    var lanes: [String: Lane] = [:]

    struct Lane: Codable, Sendable, Equatable {
        /// All messages up to this number are handled, or dead.
        var handled: UInt64
        /// The handled messages beyond, as ranges.
        var later: [Span] = []
        /// The highest number that was delivered.
        var delivered: UInt64
        /// The messages that were delivered and not handled, if they are to be delivered again.
        var failures: [Failure] = []
        /// The messages that are kept for a person.
        var dead: [Dead] = []

        init(after number: UInt64) { (handled, delivered) = (number, number) }
    }

    struct Span: Codable, Sendable, Equatable {
        var first: UInt64
        var last: UInt64
    }

    struct Failure: Codable, Sendable, Equatable {
        let number: UInt64
        /// The number of deliveries that have ended without an acknowledgement.
        var attempts: Int
        /// It is not delivered before: milliseconds since 1970.
        var notBefore: UInt64
        /// It was delivered since the last of them.
        var isTaken: Bool
    }

    struct Dead: Codable, Sendable, Equatable {
        let number: UInt64
        let reason: String
        /// Milliseconds since 1970.
        let at: UInt64
    }

    /// Returns the state of a mailbox; an empty one before its first message was taken.
    ///
    /// - Throws: `StoreError`: a rejection; `.missing` if the record was removed: messages that were handled would be
    ///   delivered again.
    static func read(_ mailbox: MailboxName, in store: SealedStore) throws(StoreError) -> MailboxState {
        let place = try store.places.place(reserved: mailbox.recordName.text)
        do throws(StoreError) { return try store.reader.checkedSnapshot(of: MailboxState.self, at: place).value } catch
        {
            guard error.code == .absent else {
                if store.isInPlace { store.reader.notice(error, at: place) }
                throw error
            }
        }
        try requireNeverSeen(place, in: store)
        return MailboxState()
    }

    /// Throws if the record was removed; a new container, without any record or message, has none yet.
    private static func requireNeverSeen(_ place: RecordPlace, in store: SealedStore) throws(StoreError) {
        guard store.reader.isMissing(place) else { return }
        let hasMessages = try? store.container.root.exists(ContainerLayout.mailboxes)
        if hasMessages == false, (try? store.reader.heads(limit: 1).isEmpty) == true { return }
        throw StoreError(
            .missing, "use the mailbox", place.name.text,
            "The record of handled messages was removed.",
            advice: "Restore it from a backup; or discard all messages: sealctl mailbox reset.")
    }

    /// Changes the state of one lane under the record's lock.
    static func update<Result>(
        _ mailbox: MailboxName, in store: SealedStore, _ request: WriteRequest,
        _ change: (inout MailboxState) -> Result
    ) throws(StoreError) -> Result {
        let place = try store.places.place(reserved: mailbox.recordName.text)
        if try store.reader.head(at: place, "use") == nil { try requireNeverSeen(place, in: store) }
        return try store.writer.update(MailboxState.self, at: place, startingWith: MailboxState(), request) { state in
            change(&state)
        }.result
    }
}

extension MailboxState.Lane {
    func isHandled(_ number: UInt64) -> Bool {
        number <= handled || later.contains { $0.first <= number && number <= $0.last }
    }

    /// Counts messages as handled.
    mutating func handle(_ numbers: some Sequence<UInt64>) {
        var spans = later
        for number in numbers where number > handled { spans.append(MailboxState.Span(first: number, last: number)) }
        spans.sort { $0.first < $1.first }
        later = []
        for span in spans {
            if span.first <= handled + 1 {
                handled = max(handled, span.last)
            } else if let last = later.last, span.first <= last.last + 1 {
                later[later.count - 1].last = max(last.last, span.last)
            } else {
                later.append(span)
            }
        }
        failures = failures.filter { !isHandled($0.number) }
        delivered = max(delivered, handled)
    }

    /// Keeps a message for a person, and counts it as handled.
    mutating func bury(_ number: UInt64, because reason: String, at time: UInt64) {
        if !dead.contains(where: { $0.number == number }) {
            dead.append(MailboxState.Dead(number: number, reason: String(reason.prefix(Self.longestReason)), at: time))
        }
        handle(CollectionOfOne(number))
    }

    private static let longestReason = 200

    /// Notes that a reader gave a message back; returns the number of deliveries that have ended so.
    mutating func giveBack(_ number: UInt64) -> Int {
        let attempts = (failure(of: number)?.attempts ?? 0) + 1
        failures.removeAll { $0.number == number }
        failures.append(
            MailboxState.Failure(number: number, attempts: attempts, notBefore: 0, isTaken: false))
        return attempts
    }

    mutating func delay(_ number: UInt64, until time: UInt64) {
        guard let index = failures.firstIndex(where: { $0.number == number }) else { return }
        failures[index].notBefore = time
    }

    /// Notes a delivery; returns the number of earlier ones that have ended without an acknowledgement.
    ///
    /// - Parameter isFirst: It is the first message that is not handled: messages are handled in order, so it is the one
    ///   whose reader was killed, if one was.
    mutating func deliver(_ number: UInt64, isFirst: Bool) -> Int {
        defer { delivered = max(delivered, number) }
        guard let index = failures.firstIndex(where: { $0.number == number }) else {
            guard isFirst, number <= delivered else { return 0 }
            failures.append(MailboxState.Failure(number: number, attempts: 1, notBefore: 0, isTaken: true))
            return 1
        }
        if isFirst, failures[index].isTaken { failures[index].attempts += 1 }
        failures[index].isTaken = true
        return failures[index].attempts
    }

    /// Passes over the numbers of a former container.
    mutating func skip(_ floor: KnownCertificate.Floor) {
        guard handled < floor.sequence, floor.isFormer(handled + 1) else { return }
        handled = floor.sequence
        handle(EmptyCollection())
    }

    func failure(of number: UInt64) -> MailboxState.Failure? { failures.first { $0.number == number } }
}

/// The limits of a mailbox.
struct MailLimits: Sendable {
    /// The most messages of one producer that wait.
    var maximumWaiting = 10_000
    /// The most producers.
    var maximumProducers = 256
    /// The number of deliveries after which a message is dead.
    var maximumAttempts = 5
    /// The pause before the second delivery; it doubles with each further one, up to an hour.
    var retryDelay = Duration.seconds(1)
    /// The time within which a reader acknowledges what it took.
    var handlingTime = Duration.seconds(60)
    /// The most dead messages of one producer. Beyond it a message is delivered again.
    static let maximumDead = 256
    /// The most messages beyond the first unhandled one that are delivered.
    static let window: UInt64 = 1024
    /// The most messages of one call.
    static let maximumBatch = 100
    static let longestDelay = Duration.seconds(3600)

    func delay(afterAttempts count: Int) -> Duration {
        min(Self.longestDelay, retryDelay * (1 << min(max(0, count - 1), 16)))
    }
}
