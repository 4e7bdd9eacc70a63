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
