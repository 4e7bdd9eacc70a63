internal import FoundationEssentials
public import PropertyLists

/// Types of a program's own: by their raw value where they have one, else as they encode.
extension DefaultsValue where Self: RawRepresentable, RawValue: DefaultsValue {
    /// The raw value.
    public func propertyList() throws(DefaultsFault) -> PropertyListValue? { try rawValue.propertyList() }

    /// From a raw value that stands for one of the type.
    public init(propertyList: PropertyListValue) throws(DefaultsFault) {
        guard let value = Self(rawValue: try RawValue(propertyList: propertyList)) else {
            throw DefaultsFault("Its raw value is none of \(Self.self).")
        }
        self = value
    }
}

extension DefaultsValue where Self: Codable {
    /// As the value encodes.
    public func propertyList() throws(DefaultsFault) -> PropertyListValue? { try DefaultsCoding.encode(self) }

    /// As a property list decodes.
    public init(propertyList: PropertyListValue) throws(DefaultsFault) {
        self = try DefaultsCoding.decode(Self.self, from: propertyList)
    }
}

/// A type with both keeps to its raw value.
extension DefaultsValue where Self: Codable & RawRepresentable, RawValue: DefaultsValue {
    /// The raw value.
    public func propertyList() throws(DefaultsFault) -> PropertyListValue? { try rawValue.propertyList() }

    /// From a raw value that stands for one of the type.
    public init(propertyList: PropertyListValue) throws(DefaultsFault) {
        guard let value = Self(rawValue: try RawValue(propertyList: propertyList)) else {
            throw DefaultsFault("Its raw value is none of \(Self.self).")
        }
        self = value
    }
}

/// Any `Codable` value as a part of a property list.
enum DefaultsCoding {
    static func encode(_ value: some Encodable) throws(DefaultsFault) -> PropertyListValue {
        do {
            // In an array: an encoder takes no number or text for a whole property list.
            let list = try PropertyListCodec.encode([value]).withUnsafeBytes { try PropertyList.parse($0).value }
            if case .array(let values) = list, let value = values.first { return value }
        } catch let fault as StructureFault {
            throw DefaultsFault(fault.reason)
        } catch {
            throw DefaultsFault(CodingFault.describe(error))
        }
        throw DefaultsFault("It encodes as nothing.")
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
        throw DefaultsFault("It decodes as nothing.")
    }
}
