package import FoundationEssentials

/// Records as binary property lists: bytes and dates as they are.
///
/// A nil inside an array is written as the text `$null`, as Foundation does; the same text as a value reads back as nil.
package enum PropertyListCodec {
    private static let encoder: PropertyListEncoder = {
        let encoder = PropertyListEncoder()
        encoder.outputFormat = .binary
        return encoder
    }()

    private static let decoder = PropertyListDecoder()

    /// The value as a binary property list.
    package static func encode(_ value: some Encodable) throws -> Data { try encoder.encode(value) }

    /// Decodes what passed `PropertyListStructure`, and nothing else: the decoder takes other kinds of property lists as
    /// well, and does not survive every input. The buffer is not kept.
    package static func decode<Value: Decodable>(
        _ type: Value.Type, from list: UnsafeRawBufferPointer
    ) throws -> Value {
        guard let base = list.baseAddress, list.count > 0 else { return try decoder.decode(type, from: Data()) }
        let data = Data(bytesNoCopy: UnsafeMutableRawPointer(mutating: base), count: list.count, deallocator: .none)
        return try decoder.decode(type, from: data)
    }
}
