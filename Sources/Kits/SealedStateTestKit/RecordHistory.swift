/// The calls of several programs on one record, with the times at which they began and ended.
///
/// Each write has a sequence, higher than that of the state that it replaces. So the order of the states is known, and
/// it remains to compare it with the times (linearizability of a register with unique values). The cost is that of
/// sorting.
package struct RecordHistory: Sendable {
    /// One call.
    package struct Call: Sendable, Hashable {
        /// The kind of a call.
        package enum Kind: String, Sendable { case read, put, remove }

        package let kind: Kind
        /// The beginning, in nanoseconds of the system's monotonic clock, which all processes share.
        package let start: UInt64
        /// The end; `unknown` for a write without an answer, which may be made at any later time or never.
        package let end: UInt64
        /// The sequence of the state that was written, or read: 0 if a reading found no blob.
        package let sequence: UInt64
        /// Distinguishes the blob from others with the same sequence.
        package let mark: UInt64
        /// The sequence of the blob that a write replaces; 0 if there was no blob.
        package let replaced: UInt64

        /// The end of a write without an answer.
        package static let unknown = UInt64.max

        package init(
            _ kind: Kind, _ start: UInt64, _ end: UInt64, sequence: UInt64, mark: UInt64 = 0, replaced: UInt64 = 0
        ) {
            self.kind = kind
            (self.start, self.end) = (start, end)
            (self.sequence, self.mark, self.replaced) = (sequence, mark, replaced)
        }
    }

    /// The state of the record before all calls; nil for no blob.
    package var initial: Call?
    package var calls: [Call]

    package init(_ calls: [Call], initial: Call? = nil) {
        self.calls = calls
        self.initial = initial
    }

    /// Returns the reason why no order of the calls explains what they returned; nil if one does.
    package func fault() -> String? {
        do throws(Fault) {
            var order = Order(try states())
            try order.place(calls)
            return nil
        } catch { return error.reason }
    }

    private struct Fault: Error {
        let reason: String
        init(_ reason: String) { self.reason = reason }
    }

    /// Returns the states in their order, the initial one first. A write without an answer counts if its state was seen.
    private func states() throws(Fault) -> [Call] {
        let made = calls.filter { $0.kind != .read && $0.end != Call.unknown }
        var seen = Set(calls.filter { $0.kind == .read }.map(\.sequence))
        seen.formUnion(made.map(\.replaced))
        let sorted = calls.filter { $0.kind != .read }.sorted { ($0.sequence, $0.mark) < ($1.sequence, $1.mark) }
        var kept: [Call] = []
        for (index, write) in sorted.enumerated().reversed() {
            if write.end == Call.unknown {
                let isPut = write.kind == .put
                guard isPut ? seen.contains(write.sequence) : isNeeded(write, index, sorted, kept.last) else {
                    continue
                }
            }
            seen.insert(write.replaced)
            kept.append(write)
        }
        let first = initial ?? Call(.remove, 0, 0, sequence: 0)
        let states = [first] + kept.reversed()
        for (former, next) in zip(states, states.dropFirst()) {
            let known = former.kind == .remove ? 0 : former.sequence
            if former.sequence == next.sequence { throw Fault("Two writes have the sequence \(next.sequence).") }
            if next.replaced != known {
                throw Fault("The write \(next.sequence) replaced \(known), and had been decided on \(next.replaced).")
            }
        }
        return states
    }

    /// Returns whether a removal without an answer explains the absence that the next write found. One at the end, after
    /// the blob that it was decided on, may have been made.
    private func isNeeded(_ removal: Call, _ index: Int, _ sorted: [Call], _ next: Call?) -> Bool {
        let isDecidedOn = { (call: Call) in call.kind == .put && call.sequence == removal.replaced }
        let former = sorted[..<index].last { $0.end != Call.unknown || isDecidedOn($0) } ?? initial
        return former.map(isDecidedOn) ?? false && next.map { $0.replaced == 0 } ?? true
    }

    /// The order of the states, and the check that each call fits in it.
    private struct Order {
        let states: [Call]
        private let places: [UInt64: Int]
        /// For each place the next one without a blob.
        private let absences: [Int?]

        init(_ states: [Call]) {
            self.states = states
            places = Dictionary(states.enumerated().map { ($1.sequence, $0) }) { first, _ in first }
            var absences = [Int?](repeating: nil, count: states.count)
            var next: Int?
            for index in states.indices.reversed() {
                if states[index].kind == .remove { next = index }
                absences[index] = next
            }
            self.absences = absences
        }

        /// Visits the calls by their beginnings: each has a place not before those of the calls that had ended.
        mutating func place(_ calls: [Call]) throws(Fault) {
            let starting = calls.indices.sorted { calls[$0].start < calls[$1].start }
            let ending = calls.indices.sorted { calls[$0].end < calls[$1].end }
            var found = [Int](repeating: 0, count: calls.count)
            var (next, bound) = (0, 0)
            for index in starting {
                let call = calls[index]
                while calls[ending[next]].end < call.start {
                    bound = max(bound, found[ending[next]])
                    next += 1
                }
                found[index] = try place(of: call, from: bound)
            }
        }

        private func place(of call: Call, from bound: Int) throws(Fault) -> Int {
            if call.kind == .read && call.sequence == 0 {
                // The first one restricts later calls least.
                guard let place = absences[bound] else {
                    throw Fault("A reading found no blob after \(states[bound].sequence) was written or read.")
                }
                return place
            }
            guard let place = places[call.sequence] else {
                // A write without an answer that no program has seen.
                if call.kind != .read { return 0 }
                throw Fault("A reading found \(call.sequence), which was never written.")
            }
            if call.kind != .read {
                if states[place] == call && place <= bound {
                    throw Fault("The write \(call.sequence) began after \(states[bound].sequence) was written or read.")
                }
                return place
            }
            guard states[place].kind == .put, states[place].mark == call.mark else {
                throw Fault("A reading found another blob \(call.sequence) than was written.")
            }
            guard place >= bound else {
                throw Fault("A reading found \(call.sequence) after \(states[bound].sequence) was written or read.")
            }
            return place
        }
    }
}

extension RecordHistory.Call: CustomStringConvertible, LosslessStringConvertible {
    /// The fields with spaces in between: a line of a program's output.
    package var description: String { "\(kind.rawValue) \(start) \(end) \(sequence) \(mark) \(replaced)" }

    /// Reads a description; nil for any other text.
    package init?(_ description: String) {
        let words = description.split(separator: " ")
        let numbers = words.dropFirst().compactMap { UInt64($0) }
        guard words.count == 6, numbers.count == 5, let kind = Kind(rawValue: String(words[0])) else { return nil }
        self.init(kind, numbers[0], numbers[1], sequence: numbers[2], mark: numbers[3], replaced: numbers[4])
    }
}
