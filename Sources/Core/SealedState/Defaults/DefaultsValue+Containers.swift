public import PropertyLists

extension Optional: DefaultsValue where Wrapped: DefaultsValue {
    /// The value, if there is one.
    public func propertyList() throws(DefaultsFault) -> PropertyListValue? {
        guard let self else { return nil }
        return try self.propertyList()
    }

    /// A value; that there is none shows as a key that is not there.
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
        // The type first: an empty array is one of every type.
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
    /// Inside of a container there is no place for nothing.
    fileprivate func requiredPropertyList() throws(DefaultsFault) -> PropertyListValue {
        guard let value = try propertyList() else { throw DefaultsFault("A container of it holds nil.") }
        return value
    }
}
