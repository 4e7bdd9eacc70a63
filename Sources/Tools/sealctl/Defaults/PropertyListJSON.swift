internal import PropertyLists

/// A property list as JSON, for programs that read no property lists: data as Base64, dates as RFC 3339 text, and numbers
/// that JSON has not as text.
enum PropertyListJSON {
    static func text(of value: PropertyListValue) -> JSONText {
        switch value {
        case .bool(let value): .bool(value)
        case .integer(let value): .number(Int(value))
        case .unsigned(let value): .unsigned(value)
        case .real(let value): value.isFinite ? .verbatim(String(value)) : .string(String(value))
        case .date(let date): .string(CivilTime(date).text)
        case .data(let bytes): .string(String(decoding: Base64.encode(bytes), as: UTF8.self))
        case .string(let text): .string(text)
        case .array(let values): .array(values.map(text))
        case .dictionary(let members):
            .object(PropertyList.sorted(members).map { ($0.key, text(of: $0.value)) })
        }
    }
}
