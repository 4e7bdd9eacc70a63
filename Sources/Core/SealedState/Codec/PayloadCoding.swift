internal import CryptoPrimitives
package import FoundationEssentials
package import PropertyLists
package import Sealing

/// Values to payloads and back, whatever the codec; nothing is decoded before its structure was checked.
package enum PayloadCoding {
    /// The value as a payload, within the limits that readers hold it to.
    ///
    /// - Throws: `StructureFault`, or what the encoder threw.
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

    /// The value in a payload.
    ///
    /// - Throws: `StructureFault`, or what the decoder threw.
    package static func decode<Value: Decodable>(
        _ type: Value.Type, from payload: UnsafeRawBufferPointer, codec: PayloadCodec, limits: StructureLimits
    ) throws -> Value {
        try check(payload, codec, limits)
        return codec == .binaryPropertyList
            ? try PropertyListCodec.decode(type, from: payload) : try JSONCodec.decode(type, from: payload)
    }

    /// Whether a decoder may see a payload.
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
