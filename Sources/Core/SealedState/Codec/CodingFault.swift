/// Says where decoding or encoding failed, by field, without the values that were found.
enum CodingFault {
    static func describe(_ error: any Error) -> String {
        switch error {
        case DecodingError.keyNotFound(let key, let context): "\(path(context.codingPath + [key])) is missing."
        case DecodingError.typeMismatch(let type, let context): "\(path(context.codingPath)) is not of type \(type)."
        case DecodingError.valueNotFound(let type, let context):
            "\(path(context.codingPath)) has no value of type \(type)."
        case DecodingError.dataCorrupted(let context): "\(path(context.codingPath)) is not valid."
        case EncodingError.invalidValue(_, let context): "\(path(context.codingPath)) cannot be encoded."
        default: "It does not fit the type."
        }
    }

    private static func path(_ keys: [any CodingKey]) -> String {
        keys.isEmpty ? "The record" : keys.map(name).joined(separator: ".")
    }

    /// Only a case of an enum is a field of the type; every other key is data, such as a dictionary's.
    private static func name(_ key: any CodingKey) -> String {
        if let index = key.intValue { return "[\(index)]" }
        let mirror = Mirror(reflecting: key)
        return mirror.displayStyle == .enum && mirror.children.isEmpty ? key.stringValue : "[…]"
    }
}
