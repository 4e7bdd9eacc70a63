public import FoundationEssentials
public import PropertyLists

extension String: DefaultsValue {
    /// Text.
    public func propertyList() throws(DefaultsFault) -> PropertyListValue? { .string(self) }

    /// From text only.
    public init(propertyList: PropertyListValue) throws(DefaultsFault) {
        guard let text = propertyList.string else { throw .found(propertyList, insteadOf: "a string") }
        self = text
    }
}

extension Bool: DefaultsValue {
    /// A truth value.
    public func propertyList() throws(DefaultsFault) -> PropertyListValue? { .bool(self) }

    /// From a truth value, and from the numbers 0 and 1, which other programs write instead.
    public init(propertyList: PropertyListValue) throws(DefaultsFault) {
        switch propertyList {
        case .bool(let value): self = value
        case .integer(0): self = false
        case .integer(1): self = true
        default: throw .found(propertyList, insteadOf: "a truth value")
        }
    }
}

/// `Codable` is named so that these are preferred to the encoding ones.
extension DefaultsValue where Self: BinaryInteger & Codable {
    /// An integer.
    public func propertyList() throws(DefaultsFault) -> PropertyListValue? {
        if let value = Int64(exactly: self) { return .integer(value) }
        guard let value = UInt64(exactly: self) else { throw DefaultsFault("It has more than 64 bits.") }
        return .unsigned(value)
    }

    /// From an integer that the type holds, and from a real number that is one.
    public init(propertyList: PropertyListValue) throws(DefaultsFault) {
        let value: Self? =
            switch propertyList {
            case .integer(let number): Self(exactly: number)
            case .unsigned(let number): Self(exactly: number)
            case .real(let number): Self(exactly: number)
            default: throw .found(propertyList, insteadOf: "an integer")
            }
        guard let value else { throw DefaultsFault("It is a number that \(Self.self) cannot represent.") }
        self = value
    }
}

extension Int: DefaultsValue {}
extension Int8: DefaultsValue {}
extension Int16: DefaultsValue {}
extension Int32: DefaultsValue {}
extension Int64: DefaultsValue {}
extension UInt: DefaultsValue {}
extension UInt8: DefaultsValue {}
extension UInt16: DefaultsValue {}
extension UInt32: DefaultsValue {}
extension UInt64: DefaultsValue {}

extension Double: DefaultsValue {
    /// A real number.
    public func propertyList() throws(DefaultsFault) -> PropertyListValue? { .real(self) }

    /// From a number; a large integer is rounded.
    public init(propertyList: PropertyListValue) throws(DefaultsFault) {
        switch propertyList {
        case .real(let value): self = value
        case .integer(let value): self = Double(value)
        case .unsigned(let value): self = Double(value)
        default: throw .found(propertyList, insteadOf: "a number")
        }
    }
}

extension Float: DefaultsValue {
    /// A real number.
    public func propertyList() throws(DefaultsFault) -> PropertyListValue? { .real(Double(self)) }

    /// From a number, rounded.
    public init(propertyList: PropertyListValue) throws(DefaultsFault) {
        self = Float(try Double(propertyList: propertyList))
    }
}

extension Date: DefaultsValue {
    /// A date.
    public func propertyList() throws(DefaultsFault) -> PropertyListValue? {
        guard let date = PropertyListDate(secondsSince2001: timeIntervalSinceReferenceDate) else {
            throw DefaultsFault("It is a date outside the years 0 to 9999.")
        }
        return .date(date)
    }

    /// From a date only.
    public init(propertyList: PropertyListValue) throws(DefaultsFault) {
        guard let date = propertyList.date else { throw .found(propertyList, insteadOf: "a date") }
        self.init(timeIntervalSinceReferenceDate: date.secondsSince2001)
    }
}

extension Data: DefaultsValue {
    /// Data.
    public func propertyList() throws(DefaultsFault) -> PropertyListValue? { .data(Array(self)) }

    /// From data only.
    public init(propertyList: PropertyListValue) throws(DefaultsFault) {
        guard let bytes = propertyList.data else { throw .found(propertyList, insteadOf: "data") }
        self.init(bytes)
    }
}

extension URL: DefaultsValue {
    /// Text: the path of a file, and any other address whole.
    public func propertyList() throws(DefaultsFault) -> PropertyListValue? {
        .string(isFileURL && baseURL == nil ? path : absoluteString)
    }

    /// From text: text that begins with a slash is the path of a file.
    public init(propertyList: PropertyListValue) throws(DefaultsFault) {
        guard let text = propertyList.string else { throw .found(propertyList, insteadOf: "a string") }
        if text.hasPrefix("/") {
            self.init(fileURLWithPath: text)
        } else if let url = URL(string: text) {
            self = url
        } else {
            throw DefaultsFault("It is not an address.")
        }
    }
}
