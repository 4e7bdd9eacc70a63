package import FoundationEssentials

/// Records as JSON: sorted keys, dates as RFC 3339 text, bytes as base64.
package enum JSONCodec {
    private static let encoder: JSONEncoder = {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        encoder.dateEncodingStrategy = .custom { date, encoder in
            var container = encoder.singleValueContainer()
            guard let text = DateText.string(from: date) else {
                throw EncodingError.invalidValue(
                    date,
                    .init(codingPath: encoder.codingPath, debugDescription: "A date outside the years 0 to 9999."))
            }
            try container.encode(text)
        }
        return encoder
    }()

    private static let decoder: JSONDecoder = {
        let decoder = JSONDecoder()
        decoder.dateDecodingStrategy = .custom { decoder in
            let container = try decoder.singleValueContainer()
            guard let date = DateText.date(from: try container.decode(String.self)) else {
                throw DecodingError.dataCorruptedError(
                    in: container, debugDescription: "Not a date such as 2026-11-21T03:30:00Z.")
            }
            return date
        }
        return decoder
    }()

    /// The value as JSON text.
    package static func encode(_ value: some Encodable) throws -> Data { try encoder.encode(value) }

    /// Decodes JSON text; the buffer is not copied and not kept.
    package static func decode<Value: Decodable>(
        _ type: Value.Type, from json: UnsafeRawBufferPointer
    ) throws -> Value {
        guard let base = json.baseAddress, json.count > 0 else { return try decoder.decode(type, from: Data()) }
        // The decoder would take UTF-16 and UTF-32 as well, in which the limit on nesting counts the wrong bytes.
        guard !json.prefix(4).contains(where: { $0 == 0 || $0 >= 0xFE }) else {
            throw DecodingError.dataCorrupted(.init(codingPath: [], debugDescription: "Not UTF-8."))
        }
        let data = Data(bytesNoCopy: UnsafeMutableRawPointer(mutating: base), count: json.count, deallocator: .none)
        return try decoder.decode(type, from: data)
    }
}
