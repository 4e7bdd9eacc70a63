internal import PropertyLists

/// A dictionary of a registry's file, read field by field; a field that was not read is a fault.
struct RegistryFields {
    private var fields: [String: PropertyListValue]
    private let owner: String
    private let isDictionary: Bool

    init(_ value: PropertyListValue, _ owner: String) {
        self.owner = owner
        if case .dictionary(let fields) = value {
            self.fields = fields
            isDictionary = true
        } else {
            fields = [:]
            isDictionary = false
        }
    }

    mutating func text(_ key: String) throws(RegistryDocument.Fault) -> String {
        guard let text = try optionalText(key) else { throw missing(key) }
        return text
    }

    mutating func optionalText(_ key: String) throws(RegistryDocument.Fault) -> String? {
        switch try take(key) {
        case .none: nil
        case .string(let text): text
        default: throw wrong(key, "text")
        }
    }

    mutating func integer(_ key: String) throws(RegistryDocument.Fault) -> Int64 {
        guard let number = try optionalInteger(key) else { throw missing(key) }
        return number
    }

    mutating func optionalInteger(_ key: String) throws(RegistryDocument.Fault) -> Int64? {
        switch try take(key) {
        case .none: nil
        case .integer(let number): number
        default: throw wrong(key, "a whole number")
        }
    }

    mutating func date(_ key: String) throws(RegistryDocument.Fault) -> PropertyListDate {
        switch try take(key) {
        case .none: throw missing(key)
        case .date(let date): date
        default: throw wrong(key, "a date")
        }
    }

    mutating func list(_ key: String) throws(RegistryDocument.Fault) -> [PropertyListValue] {
        switch try take(key) {
        case .none: throw missing(key)
        case .array(let values): values
        default: throw wrong(key, "an array")
        }
    }

    mutating func optionalFields(_ key: String) throws(RegistryDocument.Fault) -> RegistryFields? {
        try take(key).map { RegistryFields($0, "its \"\(key)\"") }
    }

    func requireNothingElse() throws(RegistryDocument.Fault) {
        guard let key = fields.keys.min() else { return }
        throw RegistryDocument.Fault(reason: "\(owner) has an unknown key, \"\(DisplayText.identifier(key))\"")
    }

    private mutating func take(_ key: String) throws(RegistryDocument.Fault) -> PropertyListValue? {
        guard isDictionary else { throw RegistryDocument.Fault(reason: "\(owner) is not a dictionary") }
        return fields.removeValue(forKey: key)
    }

    private func missing(_ key: String) -> RegistryDocument.Fault {
        RegistryDocument.Fault(reason: "\(owner) has no \"\(key)\"")
    }

    private func wrong(_ key: String, _ type: String) -> RegistryDocument.Fault {
        RegistryDocument.Fault(reason: "\"\(key)\" of \(owner) is not \(type)")
    }
}
