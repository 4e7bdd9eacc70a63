/// What the reading of one file may still cost, everything nested in it included; and what was left unread.
///
/// A class, because readers of nested carriers spend from the same one.
package final class CarrierBudget {
    /// How deep carriers may be nested in carriers, and containers in one carrier.
    package let maximumDepth: Int
    private var values: Int
    private var inflated: Int
    private let deadline: ContinuousClock.Instant
    private var untilClock = CarrierBudget.clockInterval
    /// What was not read, in the order in which it was met, at most `maximumNotes`.
    package private(set) var unread: [Unread] = []

    /// Asking the clock costs more than a value.
    private static let clockInterval = 256
    private static let maximumNotes = 16

    /// A part of a file that was not read.
    package struct Unread: Hashable, Sendable {
        /// Where, as `LeafTrail` writes it; empty for the file itself.
        package let place: String
        package let fault: CarrierFault
    }

    /// - Parameters:
    ///   - depth: Levels of nesting.
    ///   - values: How many values are visited.
    ///   - inflated: How many bytes may come out of decompression and decoding, all together.
    ///   - time: For how long one file is read.
    package init(
        depth: Int = 32, values: Int = 50_000_000, inflated: Int = 64 << 20, time: Duration = .seconds(60)
    ) {
        maximumDepth = depth
        self.values = values
        self.inflated = inflated
        deadline = .now + time
    }

    /// Pays for one value.
    package func spendValue() throws(CarrierFault) {
        values -= 1
        if values < 0 { throw .exhausted(.values) }
        untilClock -= 1
        if untilClock <= 0 {
            untilClock = Self.clockInterval
            try checkTime()
        }
    }

    /// Pays for bytes that were decoded or decompressed, before they are made.
    package func spendInflated(_ count: Int) throws(CarrierFault) {
        inflated -= count
        if inflated < 0 { throw .exhausted(.inflated) }
    }

    /// How many decoded bytes may still be made.
    package var remainingInflated: Int { max(0, inflated) }

    /// Asks the clock: for readers whose steps are large, such as pages.
    package func checkTime() throws(CarrierFault) {
        if ContinuousClock.now > deadline { throw .exhausted(.time) }
    }

    /// Notes what was left out, once for each place and fault.
    package func note(_ fault: CarrierFault, at place: String) {
        let entry = Unread(place: place, fault: fault)
        if unread.count < Self.maximumNotes, !unread.contains(entry) { unread.append(entry) }
    }
}

/// Why a carrier, or the rest of it, was not read. It tells of the structure, never of the contents.
package enum CarrierFault: Error, Hashable, Sendable {
    /// The system refused to read; its message.
    case unreadable(String)
    /// Not what its first bytes say; what is wrong, without an end mark.
    case malformed(String)
    /// Encrypted, or of a form that nobody described; what, without an end mark.
    case unsupported(String)
    /// A bound of the budget was reached.
    case exhausted(Bound)

    /// Somebody cut the file after it was opened.
    package static let cut = CarrierFault.unreadable("It became shorter while it was read.")

    /// What an audit of one file may cost.
    package enum Bound: String, Hashable, Sendable {
        case depth, values, inflated, time
    }

    /// What is wrong, as a sentence.
    package var reason: String {
        switch self {
        case .unreadable(let message): message
        case .malformed(let what): "It is damaged: \(what)."
        case .unsupported(let what): "It was not read: \(what)."
        case .exhausted(.depth): "It is nested deeper than this audit goes."
        case .exhausted(.values): "It has more values than this audit looks at."
        case .exhausted(.inflated): "It expands to more bytes than this audit looks at."
        case .exhausted(.time): "It takes longer than this audit gives one file."
        }
    }
}
