import FoundationEssentials
import TestSupport

/// A file of `Fixtures/vectors/crypto`: published vectors of one primitive, with their source.
struct CryptoVectors<Vector: Decodable & Sendable>: Decodable, Sendable {
    let source: String
    let vectors: [Vector]

    /// Reads the file. The result is never empty, because a test without vectors would pass.
    static func load(_ name: String, file: String = #filePath) throws -> [Vector] {
        let vectors = try JSONDecoder().decode(Self.self, from: cryptoFixture(name, file: file)).vectors
        guard !vectors.isEmpty else { throw EmptyFixture() }
        return vectors
    }
}

struct EmptyFixture: Error {}

/// Returns the bytes of a file of `Fixtures/vectors/crypto`.
func cryptoFixture(_ name: String, file: String = #filePath) throws -> Data {
    let root = file.split(separator: "/").dropLast(3).map { "/" + $0 }.joined()
    return Data(try SystemFile.read("\(root)/Fixtures/vectors/crypto/\(name).json"))
}

/// Bytes as hexadecimal text in JSON.
struct Hex: Decodable, Sendable {
    let bytes: [UInt8]

    init(from decoder: any Decoder) throws {
        let text = try decoder.singleValueContainer().decode(String.self)
        let digits = text.compactMap(\.hexDigitValue)
        guard digits.count == text.count, digits.count.isMultiple(of: 2) else { throw EmptyFixture() }
        bytes = stride(from: 0, to: digits.count, by: 2).map { UInt8(digits[$0] << 4 | digits[$0 + 1]) }
    }
}
