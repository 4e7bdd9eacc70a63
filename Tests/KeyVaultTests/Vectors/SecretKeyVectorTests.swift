import CryptoPrimitives
import TestSupport
import Testing

@testable import KeyVault

/// The sections `keyFile`, `secretKey` and `protectedKey` of `Fixtures/vectors/manifest.json`.
struct SecretKeyVector: Decodable, Sendable, CustomTestStringConvertible {
    struct Reader: Decodable, Sendable {
        let kind: String
        let passphrase: String?
    }

    struct Expected: Decodable, Sendable {
        struct Key: Decodable, Sendable {
            let `public`: String
        }

        let result: String
        let rule: String?
        let key: VectorBytes?
        let keys: [Key]?
    }

    let name: String
    let file: String
    let reader: Reader?
    let expected: Expected

    var testDescription: String { name }

    /// Creates a copy that only its owner may read.
    func placed(in directory: TemporaryDirectory) throws -> String {
        let path = directory.path(name)
        try SystemFile.write(path, SystemFile.read("\(VectorManifest.folder)/\(file)"))
        return path
    }

    static let keyFiles: [SecretKeyVector] = VectorManifest.entries("keyFile")
    static let plain: [SecretKeyVector] = VectorManifest.entries("secretKey")
    static let protected: [SecretKeyVector] = VectorManifest.entries("protectedKey")
}

@Suite struct SecretKeyVectorTests {
    private let directory: TemporaryDirectory

    init() throws { directory = try TemporaryDirectory() }

    @Test func thereAreVectorsForEveryRule() {
        let keyFiles = Set(SecretKeyVector.keyFiles.compactMap(\.expected.rule))
        let keys = Set((SecretKeyVector.plain + SecretKeyVector.protected).compactMap(\.expected.rule))
        #expect(keyFiles == Set((1...3).map { "F\($0)" }) && keys == Set((1...6).map { "K\($0)" }))
    }

    @Test(arguments: SecretKeyVector.keyFiles)
    func keyFileIsReadAsExpected(vector: SecretKeyVector) throws {
        let path = try vector.placed(in: directory)
        do throws(VaultError) {
            let key = try KeyFile.read(path: path)
            #expect(vector.expected.result == "ok")
            let bytes = key.withUnsafeBytes { Array($0) }
            #expect(bytes == vector.expected.key?.bytes)
        } catch {
            #expect(error.code.rawValue == vector.expected.result)
        }
    }

    @Test(arguments: SecretKeyVector.plain + SecretKeyVector.protected)
    func secretKeyIsReadAsExpected(vector: SecretKeyVector) throws {
        let path = try vector.placed(in: directory)
        do throws(VaultError) {
            let keys = try publicKeys(of: path, vector)
            #expect(keys == vector.expected.keys?.map(\.public))
            #expect(vector.expected.result == "ok")
        } catch {
            #expect(error.code.rawValue == vector.expected.result, "\(error)")
        }
    }

    @Test(arguments: SecretKeyVector.plain.filter { $0.reader?.kind == "identity" })
    func identityIsReadAsExpectedWhereNoPassphraseIsAsked(vector: SecretKeyVector) throws {
        let path = try vector.placed(in: directory)
        do throws(VaultError) {
            let recipients = try Identity(contentsOf: path).recipients.map(\.description)
            #expect(recipients == vector.expected.keys?.map(\.public))
            #expect(vector.expected.result == "ok")
        } catch {
            #expect(error.code.rawValue == vector.expected.result, "\(error)")
        }
    }

    private func publicKeys(of path: String, _ vector: SecretKeyVector) throws(VaultError) -> [String] {
        let words = vector.reader?.passphrase ?? ""
        func phrase() throws(VaultError) -> Passphrase {
            try Passphrase(Array(words.utf8).withRawBytes { SecretBytes(copying: $0) })
        }
        switch vector.reader?.kind {
        case "identity": return try Identity(contentsOf: path, passphrase: phrase).recipients.map(\.description)
        case "writer": return [try WriterKey(contentsOf: path, passphrase: phrase).publicKey.description]
        default: return [try TeamKey(contentsOf: path, passphrase: phrase).publicKey.description]
        }
    }
}
