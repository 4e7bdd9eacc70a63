internal import CryptoPrimitives
package import FoundationEssentials
package import PropertyLists
package import Sealing

/// The conversion of values to payloads and back, for every codec; the structure is checked before decoding.
package enum PayloadCoding {
    /// Returns the value as a payload within the limits that readers apply.
    ///
    /// - Throws: `StructureFault`, or the encoder's error.
    package static func encode(
        _ value: some Encodable, as codec: PayloadCodec, limits: StructureLimits
    ) throws -> Data {
        var payload = codec == .binaryPropertyList ? try PropertyListCodec.encode(value) : try JSONCodec.encode(value)
        do {
            try payload.withUnsafeBytes { try check($0, codec, limits) }
        } catch {
            payload.withUnsafeMutableBytes { ScratchMemory.wipe($0) }
            throw error
        }
        return payload
    }

    /// Returns the value in a payload.
    ///
    /// - Throws: `StructureFault`, or the decoder's error.
    package static func decode<Value: Decodable>(
        _ type: Value.Type, from payload: UnsafeRawBufferPointer, codec: PayloadCodec, limits: StructureLimits
    ) throws -> Value {
        try check(payload, codec, limits)
        return codec == .binaryPropertyList
            ? try PropertyListCodec.decode(type, from: payload) : try JSONCodec.decode(type, from: payload)
    }

    /// Throws unless a decoder may receive the payload.
    package static func check(
        _ payload: UnsafeRawBufferPointer, _ codec: PayloadCodec, _ limits: StructureLimits
    ) throws(StructureFault) {
        switch codec {
        case .json: try JSONStructure.check(payload, against: limits)
        case .binaryPropertyList: try PropertyListStructure.check(payload, against: limits)
        case .raw: throw .unsupported("raw bytes instead of a value")
        }
    }
}

/// Records as binary property lists: bytes and dates as they are.
///
/// A nil inside an array is written as the text `$null`, as Foundation does; the same text as a value reads back as
/// nil.
package enum PropertyListCodec {
    private static let encoder: PropertyListEncoder = {
        let encoder = PropertyListEncoder()
        encoder.outputFormat = .binary
        return encoder
    }()

    private static let decoder = PropertyListDecoder()

    /// Returns the value as a binary property list.
    package static func encode(_ value: some Encodable) throws -> Data { try encoder.encode(value) }

    /// Decodes a list that passed `PropertyListStructure`, and nothing else: the decoder accepts other kinds of
    /// property lists as well, and crashes on some inputs. The buffer is not kept.
    package static func decode<Value: Decodable>(
        _ type: Value.Type, from list: UnsafeRawBufferPointer
    ) throws -> Value {
        guard let base = list.baseAddress, list.count > 0 else { return try decoder.decode(type, from: Data()) }
        let data = Data(bytesNoCopy: UnsafeMutableRawPointer(mutating: base), count: list.count, deallocator: .none)
        return try decoder.decode(type, from: data)
    }
}

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

    /// Returns the value as JSON text.
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
