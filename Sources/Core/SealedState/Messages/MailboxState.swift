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
    /// Numbers up to it are handled for a producer without a state: those of before a reset.
    var floor: UInt64 = 0

    /// Returns the state of a producer's messages; nil for one that is not known, and whose first number may be any.
    func lane(_ producer: String) -> Lane? { lanes[producer] ?? (floor == 0 ? nil : Lane(after: floor)) }

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
        /// The fence of the reader that took messages last.
        var reader: UInt64 = 0

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

    /// Returns the number of handled messages in a range.
    func handledCount(in range: Range<UInt64>) -> Int {
        let below = Int(clamping: min(max(range.lowerBound, handled + 1), range.upperBound) - range.lowerBound)
        return later.reduce(below) { count, span in
            let (first, end) = (max(span.first, range.lowerBound), min(span.last + 1, range.upperBound))
            return first < end ? count + Int(clamping: end - first) : count
        }
    }

    /// Counts messages as handled.
    mutating func handle(_ added: [MailboxState.Span]) {
        let spans = (later + added.filter { $0.last > handled }).sorted { $0.first < $1.first }
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

    /// The most dead letters of one producer. Beyond it a message is delivered again.
    static let maximumDead = 256
    /// There is room for a dead letter.
    var mayBury: Bool { dead.count < Self.maximumDead }

    /// Keeps a message for a person, and counts it as handled.
    mutating func bury(_ number: UInt64, because reason: String, at time: UInt64) {
        if !dead.contains(where: { $0.number == number }) {
            let short = String(decoding: reason.utf8.prefix(Self.longestReason), as: UTF8.self)
            dead.append(MailboxState.Dead(number: number, reason: short, at: time))
        }
        handle([MailboxState.Span(first: number, last: number)])
    }

    /// The most bytes of a reason that are kept.
    private static let longestReason = 500

    /// Notes that a reader gave a message back; returns the number of deliveries that have ended so.
    mutating func giveBack(_ number: UInt64) -> Int {
        let attempts = (failure(of: number)?.attempts ?? 0) + 1
        failures.removeAll { $0.number == number }
        failures.append(
            MailboxState.Failure(number: number, attempts: attempts, notBefore: 0, isTaken: false))
        return attempts
    }

    mutating func delay(_ number: UInt64, by pause: Duration, at now: UInt64) {
        guard let index = failures.firstIndex(where: { $0.number == number }) else { return }
        let pause = min(max(.zero, pause), MailLimits.longestDelay)
        failures[index].notBefore = now + UInt64((pause.seconds * 1000).rounded(.up))
    }

    /// Returns `true` if a message that was given back waits for its time. A time that no pause reaches is that of a
    /// clock that was wrong.
    func isHeldBack(_ number: UInt64, at now: UInt64) -> Bool {
        guard let time = failure(of: number)?.notBefore, time > now else { return false }
        return time - now <= UInt64(MailLimits.longestDelay.seconds * 1000)
    }

    /// Notes a delivery; returns the number of earlier ones that have ended without an acknowledgement.
    ///
    /// - Parameter hasFailed: It is the first message that is not handled, and another reader got it last: messages are
    ///   handled in order, so it is the one whose reader was killed, if one was.
    mutating func deliver(_ number: UInt64, hasFailed: Bool) -> Int {
        defer { delivered = max(delivered, number) }
        guard let index = failures.firstIndex(where: { $0.number == number }) else {
            guard hasFailed, number <= delivered else { return 0 }
            failures.append(MailboxState.Failure(number: number, attempts: 1, notBefore: 0, isTaken: true))
            return 1
        }
        if hasFailed, failures[index].isTaken { failures[index].attempts += 1 }
        failures[index].isTaken = true
        return failures[index].attempts
    }

    /// Passes over the numbers of a former container.
    mutating func skip(_ floor: KnownCertificate.Floor) {
        guard handled < floor.sequence, floor.isFormer(handled + 1) else { return }
        handled = floor.sequence
        handle([])
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
    /// The most messages beyond the first unhandled one that are delivered.
    static let window: UInt64 = 1024
    /// The most messages of one call.
    static let maximumBatch = 100
    static let longestDelay = Duration.seconds(3600)

    func delay(afterAttempts count: Int) -> Duration {
        min(Self.longestDelay, retryDelay * (1 << min(max(0, count - 1), 16)))
    }
}
