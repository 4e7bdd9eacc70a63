/// Reads one form of carrier, leaf by leaf, in memory that does not grow with the file.
package protocol CarrierReader {
    /// Hands every leaf to the visitor.
    ///
    /// A damaged part is noted in the walk's budget and passed over where what follows can still be read.
    /// - Throws: `CarrierFault` where the rest was not read.
    static func read(_ input: CarrierInput, _ walk: LeafWalk) throws(CarrierFault)
}

/// One walk through a file and everything nested in it: where it is, what it may cost, and who looks at the leaves.
package final class LeafWalk {
    package let trail = LeafTrail()
    package let budget: CarrierBudget
    private let visitor: (Leaf) -> Void
    /// How many carriers are open inside each other.
    private var nesting = 0
    /// Where in the file the source at hand begins; nil where its bytes are not the file's.
    private var start: Int64? = 0
    /// What applies to all that is nested in a value applies to each part of it.
    private var presence = Leaf.Presence.live

    package init(budget: CarrierBudget, visitor: @escaping (Leaf) -> Void) {
        self.budget = budget
        self.visitor = visitor
    }

    /// Hands out one leaf.
    ///
    /// - Parameter range: Within the source that is read; the leaf has it within the file.
    package func visit(
        name: UnsafeRawBufferPointer?, _ value: Leaf.Value, range: Range<Int64>?, form: CarrierForm,
        presence: Leaf.Presence = .live
    ) throws(CarrierFault) {
        try budget.spendValue()
        visitor(
            Leaf(
                name: name, value: value, range: inFile(range), presence: presence == .live ? self.presence : presence,
                form: form, trail: trail))
    }

    /// Hands out a key, a column or another name as a text of its own, called nothing: a secret may be one.
    ///
    /// To be called once for each name of a container, where the trail is still the container's.
    func visitName(
        _ name: UnsafeRawBufferPointer, range: Range<Int64>? = nil, form: CarrierForm, presence: Leaf.Presence = .live
    ) throws(CarrierFault) {
        guard name.count >= Self.shortestSecret else { return }
        try visit(name: nil, .text(name), range: range, form: form, presence: presence)
    }

    /// A shorter name is none.
    private static let shortestSecret = 16

    /// Notes what is left unread here.
    package func note(_ fault: CarrierFault) { budget.note(fault, at: trail.text) }

    private func inFile(_ range: Range<Int64>?) -> Range<Int64>? {
        guard let range, let start else { return nil }
        return start + range.lowerBound..<start + range.upperBound
    }

    /// Reads a part of the source at hand as a source of its own.
    ///
    /// - Parameters:
    ///   - position: Where it begins in the source at hand; nil for bytes that do not lie there as they are.
    ///   - presence: That of all that is read, unless the source at hand says so already.
    package func part(
        at position: Int64?, presence: Leaf.Presence = .live, _ read: () throws(CarrierFault) -> Void
    ) throws(CarrierFault) {
        let (outerStart, outerPresence) = (start, self.presence)
        defer { (start, self.presence) = (outerStart, outerPresence) }
        start = start.flatMap { start in position.map { start + $0 } }
        if outerPresence == .live { self.presence = presence }
        try read()
    }

    /// Reads a carrier inside another: a fault of it is noted here and does not end what is outside, unless time is up.
    ///
    /// - Parameters: As for `part`.
    package func nested(
        _ form: String, at position: Int64? = nil, presence: Leaf.Presence = .live,
        _ read: () throws(CarrierFault) -> Void
    ) throws(CarrierFault) {
        let depth = trail.depth
        trail.enter(.form(form))
        nesting += 1
        defer {
            trail.leave(to: depth)
            nesting -= 1
        }
        do throws(CarrierFault) {
            guard nesting <= budget.maximumDepth else { throw .exhausted(.depth) }
            try part(at: position, presence: presence, read)
        } catch {
            note(error)
            if error == .exhausted(.time) || error == .exhausted(.values) { throw error }
        }
    }
}

/// A file, or a decoded value, that is to be read.
package struct CarrierInput {
    package let source: any ByteSource
    /// The file's name without directories; empty for a decoded value. It may decide between forms that look alike.
    package let name: String
    /// Opens a file beside it by name: a log's database, a database's external files (`.App_SUPPORT/_EXTERNAL_DATA/UUID`).
    /// Nil where there is none.
    package let sibling: (String) -> (any ByteSource)?

    package init(
        _ source: any ByteSource, name: String = "", sibling: @escaping (String) -> (any ByteSource)? = { _ in nil }
    ) {
        self.source = source
        self.name = name
        self.sibling = sibling
    }
}

/// One value that a file holds, wherever in its structure it lies. It is valid only while it is visited.
package struct Leaf {
    /// What the value is called: its key, its column, its tag; UTF-8. Nil for what has no name.
    package let name: UnsafeRawBufferPointer?
    /// The value.
    package let value: Value
    /// The bytes of the file that hold it, as far as it lies there in one piece: nil for what was decoded or joined.
    package let range: Range<Int64>?
    /// Whether a program that opens the file still sees it.
    package let presence: Presence
    /// The form of the carrier that holds it, the innermost one.
    package let form: CarrierForm
    /// Where it lies; ask it during the visit only.
    package let trail: LeafTrail

    package init(
        name: UnsafeRawBufferPointer?, value: Value, range: Range<Int64>?, presence: Presence = .live,
        form: CarrierForm, trail: LeafTrail
    ) {
        self.name = name
        self.value = value
        self.range = range
        self.presence = presence
        self.form = form
        self.trail = trail
    }

    /// What a leaf holds.
    package enum Value {
        /// One value of a structure, as UTF-8 that may be damaged.
        case text(UnsafeRawBufferPointer)
        /// One value of a structure that is no text.
        case data(UnsafeRawBufferPointer)
        /// A piece of running text, in which names and values have to be told apart. Its first line's number, from 1.
        case block(UnsafeRawBufferPointer, line: Int)
        /// A piece of something unknown, in which runs of printable bytes may matter.
        case strings(UnsafeRawBufferPointer)
        case number(Double)
        case flag(Bool)
    }

    /// Whether a program that opens the file still sees the value.
    package enum Presence: String, Hashable, Sendable {
        case live
        /// Only in a write-ahead log or a rollback journal.
        case logged
        /// In pages or bytes that were given back and not yet overwritten.
        case freed
    }
}
