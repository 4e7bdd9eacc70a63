import CryptoPrimitives
import Glibc
import Sealing
import TestSupport
import Testing

/// An entry of the section `blob` of `Fixtures/vectors/manifest.json`, with its blob.
struct BlobVector: Sendable, CustomTestStringConvertible {
    let entry: Entry
    let blob: [UInt8]
    let context: BlobContext
    let keys: ReaderKeys

    var name: String { entry.name }
    var limit: Int? { entry.reader.limit }
    var key: SealingKey { keys.key }
    var testDescription: String { name }
    /// True for the result "ok" in the manifest, instead of the code of a refusal.
    var isGood: Bool { entry.expected.result == "ok" }

    /// Reads the blob that an entry describes.
    ///
    /// - Parameter folder: The folder of a generated stream, instead of the vectors' folder.
    init(_ entry: Entry, in folder: String = Self.folder) throws {
        let kinds: [String: BlobKind] = ["record": .record, "stream": .stream, "vault": .vault]
        let reader = entry.reader
        self.entry = entry
        blob = try SystemFile.read("\(folder)/\(entry.file ?? entry.name + ".seal")")
        context = BlobContext(group: reader.group, kind: try #require(kinds[reader.kind]), name: reader.name)
        keys = ReaderKeys(
            key: try SealingKey(
                secret: Self.secret(reader.key), epoch: reader.keyEpoch, suite: BlobSuite(rawValue: reader.keySuite)),
            minimumEpoch: reader.minimumEpoch)
    }

    init(named name: String) throws { try self.init(try #require(Self.entries.first { $0.name == name })) }

    /// Returns `true` if this is the plaintext that the vector states.
    func promises(_ plaintext: [UInt8]) -> Bool {
        guard isGood, let promised = entry.expected.plaintext, plaintext.count == promised.size else { return false }
        return promised.hex.map { plaintext.withUnsafeBytes { $0.hexadecimal } == $0 } ?? true
    }

    static let folder = VectorManifest.folder

    /// All entries. An unreadable manifest has no entries, which `BlobVectorTests` reports.
    static let entries: [Entry] = VectorManifest.entries("blob")

    /// All vectors that have a file.
    static let all: [BlobVector] = entries.filter { $0.file != nil }.compactMap { try? BlobVector($0) }

    static let good = all.filter(\.isGood)

    private static func secret(_ hex: String) throws -> SecretBytes {
        let text = Array(hex.utf8)
        return try SecretBytes(count: text.count / 2) { output throws(CryptoError) in
            try text.withRawBytes { text throws(CryptoError) in try Hexadecimal.decode(text, into: output) }
        }
    }
}

extension BlobVector {
    struct Entry: Decodable, Sendable {
        struct Reader: Decodable, Sendable {
            let group, kind, name, key: String
            let keySuite: UInt8
            let keyEpoch, minimumEpoch: UInt32
            let limit: Int?
        }

        struct Contents: Decodable, Sendable {
            let size: Int
            let sha256: String
            let hex: String?
        }

        struct Expected: Decodable, Sendable {
            let result: String
            let rule: String?
            let plaintext: Contents?
        }

        let name: String
        let file: String?
        let sha256: String
        let reader: Reader
        let readers, faults: [String]?
        let expected: Expected
        let earlyRelease: Contents?
    }
}

/// One key and the minimum epoch of its vault.
struct ReaderKeys: SealingKeySource {
    let key: SealingKey
    var minimumEpoch: UInt32 = 0

    func sealingKey(for id: KeyID) -> SealingKey? { key.sealingKey(for: id) }
}

/// Returns the absolute path of a file in this repository.
func repositoryPath(_ relative: String, file: String = #filePath) -> String {
    file.split(separator: "/").dropLast(3).map { "/" + $0 }.joined() + "/" + relative
}

/// True if the long forms were requested (`make fuzz`).
let isLongRun = getenv("SEALED_LONG").map { String(cString: $0) == "1" } ?? false
