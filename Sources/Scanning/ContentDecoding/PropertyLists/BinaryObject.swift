/// One object of a binary property list: what it is, and where in the file its contents lie.
///
/// Kinds as in Apple's `CFBinaryPList.c`; those that only archives have, and those that Apple reserved, too.
enum BinaryObject {
    case null
    case flag(Bool)
    case number(Double)
    case data(Range<Int>)
    /// ASCII, or UTF-16 with the high byte first.
    case text(Range<Int>, isWide: Bool)
    /// The number of an object of a keyed archive.
    case reference(Int)
    case array(BinaryObjectList)
    case dictionary(keys: BinaryObjectList, values: BinaryObjectList)
}

/// References to objects, one behind the other in the file.
struct BinaryObjectList {
    let position: Int
    let count: Int
}
