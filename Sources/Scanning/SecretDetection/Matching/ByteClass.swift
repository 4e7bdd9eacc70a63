/// A set of byte values below 128. It contains either all or none of the bytes from 128 up.
struct ByteClass: Sendable, Hashable {
    private var low: UInt64 = 0
    private var high: UInt64 = 0
    private var rest: Bool = false

    /// Creates the set of the bytes of an ASCII text.
    init(_ members: StaticString) {
        for byte in UnsafeBufferPointer(start: members.utf8Start, count: members.utf8CodeUnitCount) { insert(byte) }
    }

    init(_ members: ClosedRange<UInt8>) {
        for byte in members where byte < 128 { insert(byte) }
    }

    @inline(__always) func contains(_ byte: UInt8) -> Bool {
        if byte >= 128 { return rest }
        return (byte < 64 ? low : high) >> UInt64(byte & 63) & 1 != 0
    }

    private mutating func insert(_ byte: UInt8) {
        if byte < 64 { low |= 1 << UInt64(byte) } else { high |= 1 << UInt64(byte & 63) }
    }

    static func + (a: ByteClass, b: ByteClass) -> ByteClass {
        var sum = a
        sum.low |= b.low
        sum.high |= b.high
        sum.rest = a.rest || b.rest
        return sum
    }

    /// The bytes that the set does not contain.
    var inverted: ByteClass {
        var other = self
        other.low = ~low
        other.high = ~high
        other.rest = !rest
        return other
    }
}

extension ByteClass {
    static let digit = ByteClass("0123456789")
    static let lower = ByteClass("abcdefghijklmnopqrstuvwxyz")
    static let upper = ByteClass("ABCDEFGHIJKLMNOPQRSTUVWXYZ")
    static let letter = lower + upper
    static let alphanumeric = letter + digit
    static let lowerAlphanumeric = lower + digit
    static let upperAlphanumeric = upper + digit
    static let word = alphanumeric + ByteClass("_")
    static let hex = digit + ByteClass("abcdefABCDEF")
    static let lowerHex = digit + ByteClass("abcdef")
    /// RFC 4648 section 4, without padding.
    static let base64 = alphanumeric + ByteClass("+/")
    /// RFC 4648 section 5, without padding.
    static let base64url = alphanumeric + ByteClass("-_")
    /// RFC 4648 section 6.
    static let base32 = upper + ByteClass("234567")
    static let blank = ByteClass(" \t")
    static let space = ByteClass(" \t\r\n")
    /// Control characters and the space.
    static let control = ByteClass(0...32) + ByteClass(127...127)
    static let quote = ByteClass("\"'`")
    static let equals = ByteClass("=")
    /// Printable ASCII without the space.
    static let graphic =
        alphanumeric + ByteClass("!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~")
}
