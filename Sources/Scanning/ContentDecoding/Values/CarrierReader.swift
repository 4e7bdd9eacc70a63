/// Reads one form of carrier, value by value, in memory that does not grow with the file.
package protocol CarrierReader {
    /// Hands every value to the visitor.
    ///
    /// A damaged part is noted in the walk's budget and skipped if the following parts can still be read.
    /// - Throws: `CarrierFault` if the rest was not read.
    static func read(_ input: CarrierInput, _ walk: ValueWalk) throws(CarrierFault)
}

/// A walk through a file and everything nested in it: its trail, its budget, and the visitor of the values.
package final class ValueWalk {
    package let trail = ValuePath()
    package let budget: CarrierBudget
    private let visitor: (DecodedValue) -> Void
    /// The number of carriers that are open inside each other.
    private var nesting = 0
    /// The offset of the current source in the file, or `nil` if its bytes are not the file's.
    private var start: Int64? = 0
    /// The presence of the current source, which applies to everything nested in it.
    private var presence = DecodedValue.Presence.live

    package init(budget: CarrierBudget, visitor: @escaping (DecodedValue) -> Void) {
        self.budget = budget
        self.visitor = visitor
    }

    /// Hands out one value.
    ///
    /// - Parameter range: The range within the current source. The value has the range within the file.
    package func visit(
        name: UnsafeRawBufferPointer?, _ value: DecodedValue.Value, range: Range<Int64>?, form: CarrierForm,
        presence: DecodedValue.Presence = .live
    ) throws(CarrierFault) {
        try budget.spendValue()
        visitor(
            DecodedValue(
                name: name, value: value, range: inFile(range), presence: presence == .live ? self.presence : presence,
                form: form, trail: trail))
    }

    /// Hands out a key, a column or another name as an unnamed text, because a name may be a secret.
    ///
    /// Call this once for each name of a container, while the trail is still the container's.
    func visitName(
        _ name: UnsafeRawBufferPointer, range: Range<Int64>? = nil, form: CarrierForm,
        presence: DecodedValue.Presence = .live
    ) throws(CarrierFault) {
        guard name.count >= Self.shortestSecret else { return }
        try visit(name: nil, .text(name), range: range, form: form, presence: presence)
    }

    /// The length of the shortest name that can be a secret.
    private static let shortestSecret = 16

    /// Notes a part that is left unread at the current trail.
    package func note(_ fault: CarrierFault) { budget.note(fault, at: trail.text) }

    private func inFile(_ range: Range<Int64>?) -> Range<Int64>? {
        guard let range, let start else { return nil }
        return start + range.lowerBound..<start + range.upperBound
    }

    /// Reads a part of the current source as a source of its own.
    ///
    /// - Parameters:
    ///   - position: The part's offset in the current source, or `nil` for bytes that the source does not contain
    ///     verbatim.
    ///   - presence: The presence of everything that is read, unless the current source is already not live.
    package func part(
        at position: Int64?, presence: DecodedValue.Presence = .live, _ read: () throws(CarrierFault) -> Void
    ) throws(CarrierFault) {
        let (outerStart, outerPresence) = (start, self.presence)
        defer { (start, self.presence) = (outerStart, outerPresence) }
        start = start.flatMap { start in position.map { start + $0 } }
        if outerPresence == .live { self.presence = presence }
        try read()
    }

    /// Reads a carrier inside another. A fault in it is noted and does not end the outer carrier, unless the time is
    /// up.
    ///
    /// - Parameters: As for `part`.
    package func nested(
        _ form: String, at position: Int64? = nil, presence: DecodedValue.Presence = .live,
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

/// A file or a decoded value to be read.
package struct CarrierInput {
    package let source: any ByteSource
    /// The file's name without directories, or empty for a decoded value. The name may decide between similar forms.
    package let name: String
    /// Opens a file beside it by name, such as a log's database or a database's external files
    /// (`.App_SUPPORT/_EXTERNAL_DATA/UUID`). Returns `nil` if the file does not exist.
    package let sibling: (String) -> (any ByteSource)?

    package init(
        _ source: any ByteSource, name: String = "", sibling: @escaping (String) -> (any ByteSource)? = { _ in nil }
    ) {
        self.source = source
        self.name = name
        self.sibling = sibling
    }
}

/// A value anywhere in a file's structure, valid only while it is visited.
package struct DecodedValue {
    /// The value's name in UTF-8 (its key, its column, its tag), or `nil` if it has none.
    package let name: UnsafeRawBufferPointer?
    /// The value.
    package let value: Value
    /// The file range that contains the value, or `nil` for a value that was decoded or joined.
    package let range: Range<Int64>?
    /// The value's visibility to a program that opens the file.
    package let presence: Presence
    /// The form of the innermost carrier that contains the value.
    package let form: CarrierForm
    /// The position in the file's structure, valid only during the visit.
    package let trail: ValuePath

    package init(
        name: UnsafeRawBufferPointer?, value: Value, range: Range<Int64>?, presence: Presence = .live,
        form: CarrierForm, trail: ValuePath
    ) {
        self.name = name
        self.value = value
        self.range = range
        self.presence = presence
        self.form = form
        self.trail = trail
    }

    /// The content of a value.
    package enum Value {
        /// A value of a structure, as UTF-8 that may be damaged.
        case text(UnsafeRawBufferPointer)
        /// A value of a structure that is not text.
        case data(UnsafeRawBufferPointer)
        /// A piece of running text in which names and values must be separated, with the number of its first line, from
        /// 1.
        case block(UnsafeRawBufferPointer, line: Int)
        /// A piece of unknown bytes, in which runs of printable bytes may matter.
        case strings(UnsafeRawBufferPointer)
        case number(Double)
        case flag(Bool)
    }

    /// The value's visibility to a program that opens the file.
    package enum Presence: String, Hashable, Sendable {
        case live
        /// The value is only in a write-ahead log or a rollback journal.
        case logged
        /// The value is in pages or bytes that were freed and not yet overwritten.
        case freed
    }
}
