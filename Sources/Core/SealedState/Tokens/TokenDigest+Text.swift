internal import CryptoPrimitives
internal import Sealing

extension TokenDigest: LosslessStringConvertible {
    private static let prefix = "td1:"
    private static let size = 64

    /// Its text form; nil for any other text, a later version's included.
    public init?(_ description: String) {
        let digits = Array(description.utf8.dropFirst(Self.prefix.utf8.count))
        guard description.utf8.starts(with: Self.prefix.utf8), digits.count == 2 * Self.size else { return nil }
        var bytes = [UInt8](repeating: 0, count: Self.size)
        let isRead = digits.withUnsafeBytes { digits in
            bytes.withUnsafeMutableBytes { (try? Hexadecimal.decode(digits, into: $0)) != nil }
        }
        guard isRead else { return nil }
        self = bytes.withUnsafeBytes { bytes in
            TokenDigest(
                keyID: Bytes16(bytes), salt: Bytes16(UnsafeRawBufferPointer(rebasing: bytes[16...])),
                hash: Bytes32(UnsafeRawBufferPointer(rebasing: bytes[32...])))
        }
        // One digest has one text: capital letters are another one's.
        guard self.description.utf8.elementsEqual(description.utf8) else { return nil }
    }

    /// `td1:`, then key id, salt and hash as 128 lower-case hexadecimal digits.
    public var description: String {
        Self.prefix + keyID.hexadecimal + salt.hexadecimal + hash.withUnsafeBytes { $0.hexadecimal }
    }
}

extension TokenDigest: Codable {
    /// Reads the text form.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        guard let digest = TokenDigest(try container.decode(String.self)) else {
            throw DecodingError.dataCorruptedError(
                in: container, debugDescription: "It is no token digest of a known version.")
        }
        self = digest
    }

    /// Writes the text form.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(description)
    }
}
