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
