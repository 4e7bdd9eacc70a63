internal import Glibc

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
