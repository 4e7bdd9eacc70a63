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
