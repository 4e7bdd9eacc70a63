internal import Glibc

/// A property list, or a part of one: the types that Apple's property lists have, and nothing else.
public enum PropertyListValue: Hashable, Sendable {
    case bool(Bool)
    case integer(Int64)
    /// Only what `integer` cannot hold: above `Int64.max`.
    case unsigned(UInt64)
    case real(Double)
    case date(PropertyListDate)
    case data([UInt8])
    case string(String)
    case array([PropertyListValue])
    case dictionary([String: PropertyListValue])
}

/// What a value is, without a conversion: nil where it is of another type.
extension PropertyListValue {
    package var bool: Bool? {
        if case .bool(let value) = self { value } else { nil }
    }

    package var integer: Int64? {
        if case .integer(let value) = self { value } else { nil }
    }

    /// A real number, or a whole one that a `Double` holds exactly: writers leave out the point of `1.0`.
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

    /// The value of a key; nil also where this is no dictionary.
    package subscript(key: String) -> PropertyListValue? { dictionary?[key] }

    /// The texts of an array that holds nothing else.
    package var strings: [String]? {
        guard let array else { return nil }
        let texts = array.compactMap(\.string)
        return texts.count == array.count ? texts : nil
    }

    /// The type, as a word for messages: `a dictionary`. It tells nothing of the contents.
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

/// Values are the same where they are written the same, which is less than what Swift takes for equal.
///
/// Swift's texts are equal where Unicode calls them equivalent: `é` as one scalar or as two. Who compares in order to know
/// whether there is something to write would lose one of them, so texts and keys are compared by their UTF-8 bytes. Real
/// numbers are compared by their bits: else one that is not a number would never equal itself.
extension PropertyListValue {
    /// Whether both are written as the same bytes.
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

    /// As `==` compares.
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

    /// Whether two dictionaries have the same keys, byte for byte, and the same values.
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
                // No address where there are no bytes.
                guard let first = one.baseAddress, let second = other.baseAddress else { return true }
                return memcmp(first, second, one.count) == 0
            }
        }
    }

    private static func hash(_ text: String, into hasher: inout Hasher) {
        var text = text
        text.withUTF8 { hasher.combine(bytes: UnsafeRawBufferPointer($0)) }
    }

    /// In whatever order the members come.
    private static func hash(of members: [String: PropertyListValue]) -> Int {
        members.reduce(members.count) { sum, member in
            var hasher = Hasher()
            hash(member.key, into: &hasher)
            member.value.hash(into: &hasher)
            return sum ^ hasher.finalize()
        }
    }
}

/// A moment as a property list counts it: seconds since 1 January 2001, 00:00 UTC, leap seconds not counted.
public struct PropertyListDate: Hashable, Sendable {
    /// Seconds since 2001, before it below zero; always one of `representable`.
    public let secondsSince2001: Double

    /// The years 0 to 9999: what four digits can say. Beyond them calendars and conversions fail in a reader's own code.
    public static let representable = -63_145_526_400.0..<252_423_993_600.0

    /// Nil outside the years 0 to 9999.
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
