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

/// Dates as RFC 3339 text in UTC with up to nine fractional digits, so that a date reads back as it was written.
///
/// Foundation's ISO 8601 style keeps milliseconds at most: a record with a date would not equal itself after a round
/// trip.
package enum DateText {
    /// The years 0 to 9999, the range of four digits, in seconds since 2001.
    static let writable = PropertyListDate.representable

    /// Returns text such as `2026-11-21T03:30:00Z`, with a fraction only if the date has one.
    package static func string(from date: Date) -> String? {
        // A date's own number has a bit more precision than the one since 1970.
        let seconds = date.timeIntervalSinceReferenceDate
        guard writable.contains(seconds) else { return nil }
        var whole = Int(seconds.rounded(.down))
        var nanoseconds = Int(((seconds - Double(whole)) * 1e9).rounded())
        if nanoseconds == 1_000_000_000 { (whole, nanoseconds) = (whole + 1, 0) }
        let time = CivilTime(secondsSince1970: whole + PropertyListDate.secondsTo2001)
        guard (0...9999).contains(time.year) else { return nil }
        return time.text(nanoseconds: nanoseconds)
    }

    /// Reads RFC 3339 text with any offset; nil for anything else.
    package static func date(from text: String) -> Date? {
        var text = text
        return text.withUTF8 { date(UnsafeRawBufferPointer($0)) }
    }

    private static func date(_ text: UnsafeRawBufferPointer) -> Date? {
        var scanner = DateScanner(text)
        guard let time = scanner.time(), let nanoseconds = scanner.fraction(), let offset = scanner.offset(),
            scanner.isAtEnd
        else { return nil }
        let whole = time.secondsSince1970 - offset - PropertyListDate.secondsTo2001
        // An offset reaches beyond the years that can be written; a value that is read must be writable again.
        let date = Date(timeIntervalSinceReferenceDate: Double(whole) + Double(nanoseconds) / 1e9)
        return writable.contains(date.timeIntervalSinceReferenceDate) ? date : nil
    }
}
