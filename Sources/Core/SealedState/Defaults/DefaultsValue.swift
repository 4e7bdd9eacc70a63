public import FoundationEssentials
public import PropertyLists

/// A value of a default: any type that is written as a property list.
///
/// `String`, `Bool`, integers, `Double`, `Float`, `Date`, `Data`, `[UInt8]`, `URL`, arrays, dictionaries with text as
/// keys, optionals and `PropertyListValue` are. A type of your own that is `Codable`, or `RawRepresentable` by one of
/// these, needs no code: `extension Theme: DefaultsValue {}`.
public protocol DefaultsValue {
    /// Returns the value as a property list; nil for none, which removes a key.
    ///
    /// - Throws: `DefaultsFault` for a value that no property list can hold.
    func propertyList() throws(DefaultsFault) -> PropertyListValue?

    /// Creates the value from a property list.
    ///
    /// - Throws: `DefaultsFault` for a property list of another type.
    init(propertyList: PropertyListValue) throws(DefaultsFault)
}

/// The reason why a value is no default of a type. It names types, never contents.
public struct DefaultsFault: LocalizedError, Hashable, Sendable, CustomStringConvertible {
    /// A sentence.
    public let reason: String

    /// Creates the reason for an error.
    ///
    /// - Parameter reason: A sentence without contents: it is shown to people and kept in logs.
    public init(_ reason: String) { self.reason = reason }

    /// The reason.
    public var description: String { reason }

    /// The reason: the error's `localizedDescription`.
    public var errorDescription: String? { reason }

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

extension Optional: DefaultsValue where Wrapped: DefaultsValue {
    /// The value, if there is one.
    public func propertyList() throws(DefaultsFault) -> PropertyListValue? {
        guard let self else { return nil }
        return try self.propertyList()
    }

    /// From a value; nil is represented by a missing key.
    public init(propertyList: PropertyListValue) throws(DefaultsFault) {
        self = .some(try Wrapped(propertyList: propertyList))
    }
}

extension Array: DefaultsValue where Element: DefaultsValue {
    /// An array; bytes are data.
    public func propertyList() throws(DefaultsFault) -> PropertyListValue? {
        if Element.self == UInt8.self, let bytes = self as? [UInt8] { return .data(bytes) }
        var values: [PropertyListValue] = []
        values.reserveCapacity(count)
        for element in self { values.append(try element.requiredPropertyList()) }
        return .array(values)
    }

    /// From an array whose every element is of the type; bytes from data, or from an array of numbers.
    public init(propertyList: PropertyListValue) throws(DefaultsFault) {
        // The type is checked first: an empty array belongs to every type.
        if Element.self == UInt8.self, let bytes = propertyList.data, let same = bytes as? Self {
            self = same
            return
        }
        guard let values = propertyList.array else { throw .found(propertyList, insteadOf: "an array") }
        self = []
        reserveCapacity(values.count)
        for value in values { append(try Element(propertyList: value)) }
    }
}

extension Dictionary: DefaultsValue where Key == String, Value: DefaultsValue {
    /// A dictionary.
    public func propertyList() throws(DefaultsFault) -> PropertyListValue? {
        var values: [String: PropertyListValue] = [:]
        values.reserveCapacity(count)
        for (key, value) in self { values[key] = try value.requiredPropertyList() }
        return .dictionary(values)
    }

    /// From a dictionary whose every value is of the type.
    public init(propertyList: PropertyListValue) throws(DefaultsFault) {
        guard let values = propertyList.dictionary else { throw .found(propertyList, insteadOf: "a dictionary") }
        self = [:]
        reserveCapacity(values.count)
        for (key, value) in values { self[key] = try Value(propertyList: value) }
    }
}

extension DefaultsValue {
    /// Returns the property list; inside a container nil cannot be represented.
    fileprivate func requiredPropertyList() throws(DefaultsFault) -> PropertyListValue {
        guard let value = try propertyList() else { throw DefaultsFault("It contains nil.") }
        return value
    }
}

/// A program's own types: by their raw value if they have one, else encoded.
extension DefaultsValue where Self: RawRepresentable, RawValue: DefaultsValue {
    /// The raw value.
    public func propertyList() throws(DefaultsFault) -> PropertyListValue? { try rawValue.propertyList() }

    /// From a raw value of the type.
    public init(propertyList: PropertyListValue) throws(DefaultsFault) {
        guard let value = Self(rawValue: try RawValue(propertyList: propertyList)) else {
            throw DefaultsFault("Its raw value is not one of \(Self.self).")
        }
        self = value
    }
}

extension DefaultsValue where Self: Codable {
    /// The encoded value.
    public func propertyList() throws(DefaultsFault) -> PropertyListValue? { try DefaultsCoding.encode(self) }

    /// From a decoded property list.
    public init(propertyList: PropertyListValue) throws(DefaultsFault) {
        self = try DefaultsCoding.decode(Self.self, from: propertyList)
    }
}

/// A type with both uses its raw value.
extension DefaultsValue where Self: Codable & RawRepresentable, RawValue: DefaultsValue {
    /// The raw value.
    public func propertyList() throws(DefaultsFault) -> PropertyListValue? { try rawValue.propertyList() }

    /// From a raw value of the type.
    public init(propertyList: PropertyListValue) throws(DefaultsFault) {
        guard let value = Self(rawValue: try RawValue(propertyList: propertyList)) else {
            throw DefaultsFault("Its raw value is not one of \(Self.self).")
        }
        self = value
    }
}

/// Any `Codable` value as a part of a property list.
enum DefaultsCoding {
    static func encode(_ value: some Encodable) throws(DefaultsFault) -> PropertyListValue {
        do {
            // In an array: an encoder accepts no number or text as a whole property list.
            let list = try PropertyListCodec.encode([value]).withUnsafeBytes { try PropertyList.parse($0).value }
            if case .array(let values) = list, let value = values.first { return value }
        } catch let fault as StructureFault {
            throw DefaultsFault(fault.reason)
        } catch {
            throw DefaultsFault(CodingFault.describe(error))
        }
        throw DefaultsFault("It encodes no value.")
    }

    static func decode<Value: Decodable>(
        _ type: Value.Type, from value: PropertyListValue
    ) throws(DefaultsFault) -> Value {
        do {
            let bytes = try PropertyList.bytes(of: .array([value]), as: .binary)
            try bytes.withUnsafeBytes { try PropertyListStructure.check($0, against: .propertyList) }
            let values = try bytes.withUnsafeBytes { try PropertyListCodec.decode([Value].self, from: $0) }
            if let value = values.first { return value }
        } catch let fault as StructureFault {
            throw DefaultsFault(fault.reason)
        } catch {
            throw DefaultsFault(CodingFault.describe(error))
        }
        throw DefaultsFault("It decodes no value.")
    }
}
