/// The remaining budget for reading one file and everything nested in it, and the list of unread parts.
///
/// A class, because readers of nested carriers share one budget.
package final class CarrierBudget {
    /// The limit on nesting of carriers in carriers, and of containers in one carrier.
    package let maximumDepth: Int
    private var values: Int
    private var inflated: Int
    private let deadline: ContinuousClock.Instant
    private var untilClock = CarrierBudget.clockInterval
    /// The unread parts in the order of reading, at most `maximumNotes`.
    package private(set) var unread: [Unread] = []

    /// The number of values between clock reads, because reading the clock costs more than a value.
    private static let clockInterval = 256
    private static let maximumNotes = 16

    /// A part of a file that was not read.
    package struct Unread: Hashable, Sendable {
        /// The position in the form of `ValuePath`; empty for the file itself.
        package let place: String
        package let fault: CarrierFault
    }

    /// - Parameters:
    ///   - depth: The levels of nesting.
    ///   - values: The number of visited values.
    ///   - inflated: The total number of bytes from decompression and decoding.
    ///   - time: The reading time for one file.
    package init(
        depth: Int = 32, values: Int = 50_000_000, inflated: Int = 64 << 20, time: Duration = .seconds(60)
    ) {
        maximumDepth = depth
        self.values = values
        self.inflated = inflated
        deadline = .now + time
    }

    /// Charges one value.
    package func spendValue() throws(CarrierFault) {
        values -= 1
        if values < 0 { throw .exhausted(.values) }
        untilClock -= 1
        if untilClock <= 0 {
            untilClock = Self.clockInterval
            try checkTime()
        }
    }

    /// Charges bytes before they are decoded or decompressed.
    package func spendInflated(_ count: Int) throws(CarrierFault) {
        inflated -= count
        if inflated < 0 { throw .exhausted(.inflated) }
    }

    /// The number of bytes that may still be decoded.
    package var remainingInflated: Int { max(0, inflated) }

    /// Checks the time limit, for readers with large steps, such as pages.
    package func checkTime() throws(CarrierFault) {
        if ContinuousClock.now > deadline { throw .exhausted(.time) }
    }

    /// Notes an unread part, once for each position and fault.
    package func note(_ fault: CarrierFault, at place: String) {
        let entry = Unread(place: place, fault: fault)
        if unread.count < Self.maximumNotes, !unread.contains(entry) { unread.append(entry) }
    }
}

/// The reason why a carrier, or its rest, was not read. It describes the structure, never the contents.
package enum CarrierFault: Error, Hashable, Sendable {
    /// The system refused the read; with its message.
    case unreadable(String)
    /// The content does not match its first bytes; with the defect, without a full stop.
    case malformed(String)
    /// The content is encrypted or of an undocumented form; with the form, without a full stop.
    case unsupported(String)
    /// A limit of the budget was reached.
    case exhausted(Bound)

    /// The file was truncated after it was opened.
    package static let cut = CarrierFault.unreadable("It became shorter while it was read.")

    /// The limits on reading one file.
    package enum Bound: String, Hashable, Sendable {
        case depth, values, inflated, time
    }

    /// The fault as a sentence.
    package var reason: String {
        switch self {
        case .unreadable(let message): message
        case .malformed(let what): "It is damaged: \(what)."
        case .unsupported(let what): "It was not read: \(what)."
        case .exhausted(.depth): "It is nested deeper than the audit's limit."
        case .exhausted(.values): "It has more values than the audit's limit."
        case .exhausted(.inflated): "It expands to more bytes than the audit's limit."
        case .exhausted(.time): "It takes longer than the audit's time limit for a file."
        }
    }
}
