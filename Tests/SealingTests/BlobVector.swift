import CryptoPrimitives
import FoundationEssentials
import Glibc
import Sealing
import TestSupport
import Testing

/// A blob of `Fixtures/vectors/blobs` with what its JSON says.
struct BlobVector: Sendable, CustomTestStringConvertible {
    struct Expected: Decodable, Sendable {
        let result: String
        let rule: String?
        let plaintextSize: Int?
        let plaintextHex: String?
        let plaintextBlake2b: String?
    }

    private struct Description: Decodable {
        let description, group, kind, name, key: String
        let keyEpoch: UInt32
        let limit: Int?
        let expected: Expected
    }

    let name: String
    let blob: [UInt8]
    let context: BlobContext
    let key: SealingKey
    let limit: Int?
    let expected: Expected

    var testDescription: String { name }
    /// The JSON file says "ok", or the code of a refusal.
    var isGood: Bool { expected.result == "ok" }

    init(named name: String) throws {
        let path = Self.folder + "/" + name
        let json = try JSONDecoder().decode(Description.self, from: Data(SystemFile.read(path + ".json")))
        let kinds: [String: BlobKind] = ["record": .record, "stream": .stream, "vault": .vault]
        self.name = name
        blob = try SystemFile.read(path + ".seal")
        context = BlobContext(group: json.group, kind: try #require(kinds[json.kind]), name: json.name)
        key = try SealingKey(secret: Self.secret(json.key), epoch: json.keyEpoch)
        limit = json.limit
        expected = json.expected
    }

    /// Whether that is the plaintext the vector promises.
    func promises(_ plaintext: [UInt8]) -> Bool {
        guard isGood, plaintext.count == expected.plaintextSize else { return false }
        if let hex = expected.plaintextHex { return plaintext.withUnsafeBytes { $0.hexadecimal } == hex }
        return BLAKE2b.hash(plaintext, count: 32).withUnsafeBytes { $0.hexadecimal } == expected.plaintextBlake2b
    }

    static let folder = repositoryPath("Fixtures/vectors/blobs")

    /// All vectors by name. An unreadable folder gives none, which `BlobVectorTests` reports.
    static let all: [BlobVector] = {
        let names = (try? SystemFile.names(folder)) ?? []
        return names.filter { $0.hasSuffix(".seal") }.compactMap { try? BlobVector(named: String($0.dropLast(5))) }
    }()

    static let good = all.filter(\.isGood)

    private static func secret(_ hex: String) throws -> SecretBytes {
        let text = Array(hex.utf8)
        return try SecretBytes(count: text.count / 2) { output throws(CryptoError) in
            try text.withRawBytes { text throws(CryptoError) in try Hexadecimal.decode(text, into: output) }
        }
    }
}

/// The absolute path of something in this repository.
func repositoryPath(_ relative: String, file: String = #filePath) -> String {
    file.split(separator: "/").dropLast(3).map { "/" + $0 }.joined() + "/" + relative
}

/// Whether the long forms were asked for (`make fuzz`).
let isLongRun = getenv("SEALED_LONG").map { String(cString: $0) == "1" } ?? false
