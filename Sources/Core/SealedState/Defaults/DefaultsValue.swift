public import PropertyLists

/// What a default can be: anything that is written as a property list.
///
/// `String`, `Bool`, integers, `Double`, `Float`, `Date`, `Data`, `[UInt8]`, `URL`, arrays, dictionaries with text as
/// keys, optionals and `PropertyListValue` are. A type of your own that is `Codable`, or `RawRepresentable` by one of
/// these, needs no code: `extension Theme: DefaultsValue {}`.
public protocol DefaultsValue {
    /// The value as a property list; nil for none, which takes a key away.
    ///
    /// - Throws: `DefaultsFault` for what no property list can hold.
    func propertyList() throws(DefaultsFault) -> PropertyListValue?

    /// The value that a property list stands for.
    ///
    /// - Throws: `DefaultsFault` where it is one of another type.
    init(propertyList: PropertyListValue) throws(DefaultsFault)
}

/// Why a value is no default of a type. It tells of types, never of contents.
public struct DefaultsFault: Error, Hashable, Sendable, CustomStringConvertible {
    /// A sentence.
    public let reason: String

    /// - Parameter reason: A sentence without contents: it is shown to people and kept in logs.
    public init(_ reason: String) { self.reason = reason }

    /// The reason.
    public var description: String { reason }

    static func found(_ value: PropertyListValue, insteadOf type: String) -> DefaultsFault {
        DefaultsFault("It is \(value.kind), not \(type).")
    }
}

extension PropertyListValue: DefaultsValue {
    /// Itself.
    public func propertyList() throws(DefaultsFault) -> PropertyListValue? { self }

    /// The same.
    public init(propertyList: PropertyListValue) throws(DefaultsFault) { self = propertyList }
}
