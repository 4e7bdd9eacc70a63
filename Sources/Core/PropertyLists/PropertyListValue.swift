internal import Glibc

/// A property list, or a part of one, with exactly the types of Apple's property lists.
public enum PropertyListValue: Hashable, Sendable {
    /// A truth value.
    case bool(Bool)
    /// A whole number.
    case integer(Int64)
    /// A number that `integer` cannot represent, above `Int64.max`.
    case unsigned(UInt64)
    /// A real number.
    case real(Double)
    /// A point in time.
    case date(PropertyListDate)
    /// Bytes.
    case data([UInt8])
    /// A text.
    case string(String)
    /// A list of values.
    case array([PropertyListValue])
    /// Values by their keys, without an order.
    case dictionary([String: PropertyListValue])
}

/// Access by type without conversion. Each property is `nil` for a value of another type.
extension PropertyListValue {
    package var bool: Bool? {
        if case .bool(let value) = self { value } else { nil }
    }

    package var integer: Int64? {
        if case .integer(let value) = self { value } else { nil }
    }

    /// The value of a real number, or of an integer that a `Double` represents exactly, because writers omit the point
    /// of `1.0`.
    package var real: Double? {
        switch self {
        case .real(let value): value
        case .integer(let value): Double(exactly: value)
        case .unsigned(let value): Double(exactly: value)
        default: nil
        }
    }

    package var date: PropertyListDate? {
        if case .date(let value) = self { value } else { nil }
    }

    package var data: [UInt8]? {
        if case .data(let value) = self { value } else { nil }
    }

    package var string: String? {
        if case .string(let value) = self { value } else { nil }
    }

    package var array: [PropertyListValue]? {
        if case .array(let value) = self { value } else { nil }
    }

    package var dictionary: [String: PropertyListValue]? {
        if case .dictionary(let value) = self { value } else { nil }
    }

    /// The value of a key, or `nil` if the dictionary does not contain it or the value is not a dictionary.
    package subscript(key: String) -> PropertyListValue? { dictionary?[key] }

    /// The texts of an array that contains only texts.
    package var strings: [String]? {
        guard let array else { return nil }
        let texts = array.compactMap(\.string)
        return texts.count == array.count ? texts : nil
    }

    /// The type as a phrase for messages: `a dictionary`. It reveals nothing of the contents.
    package var kind: String {
        switch self {
        case .bool: "a truth value"
        case .integer, .unsigned: "an integer"
        case .real: "a real number"
        case .date: "a date"
        case .data: "data"
        case .string: "a string"
        case .array: "an array"
        case .dictionary: "a dictionary"
        }
    }
}

/// Equality by serialised bytes, which is stricter than Swift's.
///
/// Swift compares texts by canonical equivalence: `é` as one scalar equals `é` as two. A caller that compares to decide
/// whether to write would lose one of them, so texts and keys are compared by their UTF-8 bytes. Real numbers are
/// compared by their bits, because NaN would otherwise never equal itself.
extension PropertyListValue {
    /// Returns whether both values are written as the same bytes.
    public static func == (one: PropertyListValue, other: PropertyListValue) -> Bool {
        switch (one, other) {
        case (.bool(let one), .bool(let other)): one == other
        case (.integer(let one), .integer(let other)): one == other
        case (.unsigned(let one), .unsigned(let other)): one == other
        case (.real(let one), .real(let other)): one.bitPattern == other.bitPattern
        case (.date(let one), .date(let other)): one == other
        case (.data(let one), .data(let other)): one == other
        case (.string(let one), .string(let other)): isSame(one, other)
        case (.array(let one), .array(let other)): one == other
        case (.dictionary(let one), .dictionary(let other)): isSame(one, other)
        default: false
        }
    }

    /// Hashes the value consistently with `==`.
    public func hash(into hasher: inout Hasher) {
        switch self {
        case .bool(let value): hasher.combine(value)
        case .integer(let value): hasher.combine(value)
        case .unsigned(let value): hasher.combine(value)
        case .real(let value): hasher.combine(value.bitPattern)
        case .date(let value): hasher.combine(value)
        case .data(let value): hasher.combine(value)
        case .string(let text): Self.hash(text, into: &hasher)
        case .array(let values): hasher.combine(values)
        case .dictionary(let members): hasher.combine(Self.hash(of: members))
        }
    }

    /// Returns whether two dictionaries have the same keys, byte for byte, and the same values.
    package static func isSame(
        _ one: [String: PropertyListValue], _ other: [String: PropertyListValue]
    ) -> Bool {
        one.count == other.count
            && one.allSatisfy { key, value in
                guard let index = other.index(forKey: key) else { return false }
                return isSame(key, other[index].key) && value == other[index].value
            }
    }

    private static func isSame(_ one: String, _ other: String) -> Bool {
        var (one, other) = (one, other)
        return one.withUTF8 { one in
            other.withUTF8 { other in
                guard one.count == other.count else { return false }
                // An empty buffer may have no address.
                guard let first = one.baseAddress, let second = other.baseAddress else { return true }
                return memcmp(first, second, one.count) == 0
            }
        }
    }

    private static func hash(_ text: String, into hasher: inout Hasher) {
        var text = text
        text.withUTF8 { hasher.combine(bytes: UnsafeRawBufferPointer($0)) }
    }

    /// Returns a hash that does not depend on the order of the members.
    private static func hash(of members: [String: PropertyListValue]) -> Int {
        members.reduce(members.count) { sum, member in
            var hasher = Hasher()
            hash(member.key, into: &hasher)
            member.value.hash(into: &hasher)
            return sum ^ hasher.finalize()
        }
    }
}

/// A date of a property list: seconds since 1 January 2001, 00:00 UTC, without leap seconds.
public struct PropertyListDate: Hashable, Sendable {
    /// The seconds since 2001, negative before it; always in `representable`.
    public let secondsSince2001: Double

    /// The years 0 to 9999, the range of four digits. Other years make calendars and conversions fail in a reader's own
    /// code.
    public static let representable = -63_145_526_400.0..<252_423_993_600.0

    /// Creates a date, or `nil` outside the years 0 to 9999.
    public init?(secondsSince2001 seconds: Double) {
        guard Self.representable.contains(seconds) else { return nil }
        secondsSince2001 = seconds
    }

    /// From 1970, where the system's clocks count from, to 2001.
    package static let secondsTo2001 = 978_307_200

    package init?(secondsSince1970 seconds: Double) {
        self.init(secondsSince2001: seconds - Double(Self.secondsTo2001))
    }

    package var secondsSince1970: Double { secondsSince2001 + Double(Self.secondsTo2001) }
}
