/// An object of a binary property list of values: its kind and the position of its contents.
enum PropertyListObject {
    /// A number, a truth value or a date, or `nil` for null.
    case scalar(PropertyListValue?)
    case data(Range<Int>)
    case text(Range<Int>, isWide: Bool)
    /// An array, with the position of its references.
    case array(count: Int, references: Int)
    /// A dictionary, with the position of the references to its keys, which precede those to its values.
    case dictionary(count: Int, references: Int)

    /// - Throws: `StructureFault` for what only archives have, and for numbers and dates that no value holds.
    @inline(__always)
    init(_ object: EncodedObject) throws(StructureFault) {
        switch object {
        case .empty(0x00): self = .scalar(nil)
        case .flag(let flag): self = .scalar(.bool(flag))
        case .integer(let number): self = .scalar(try Self.value(of: number))
        case .real(let number): self = .scalar(.real(number))
        case .date(let seconds):
            // As in JSON, the years 0 to 9999: beyond them calendars and conversions fail in a reader's own code.
            guard let date = PropertyListDate(secondsSince2001: seconds) else {
                throw .unsupported("a date outside the years 0 to 9999")
            }
            self = .scalar(.date(date))
        case .data(let range): self = .data(range)
        case .text(let range, .ascii): self = .text(range, isWide: false)
        case .text(let range, .utf16): self = .text(range, isWide: true)
        case .reference: throw .unsupported("a reference of an archive")
        case .array(let count, let references): self = .array(count: count, references: references)
        case .set(_, _, isOrdered: false): throw .unsupported("a set")
        case .dictionary(let count, let references): self = .dictionary(count: count, references: references)
        case .empty, .identifier, .text, .set: throw .malformed("an object is of an unknown kind")
        }
    }

    private static func value(of number: EncodedInteger) throws(StructureFault) -> PropertyListValue {
        guard number.upper == 0 else { throw .unsupported("a number of more than 64 bits") }
        if number.size == 16, number.bits > Int64.max { return .unsigned(number.bits) }
        return .integer(Int64(bitPattern: number.bits))
    }
}
