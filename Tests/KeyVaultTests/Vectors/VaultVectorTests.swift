import AppGroups
import CryptoPrimitives
import Glibc
import Sealing
import TestSupport
import Testing

@testable import KeyVault

/// A credential as a vector states it.
struct VectorCredential: Decodable, Sendable {
    let kind: String
    let secret: String

    /// Returns the vault's credential, or `nil` for a credential of systemd, which requires a unit.
    func credential(in fixture: VaultFixture) throws -> VaultCredential? {
        switch kind {
        case "passphrase": return try passphrase(secret)
        case "identity":
            let text = try VectorText.bytes(secret).withRawBytes { scalar in
                SecretBytes(count: IdentityKey.textSize) { IdentityKey.encoding.encode(scalar, into: $0) }
            }
            return .identity(try Identity(text: text))
        case "keyFile":
            let path = fixture.directory.path("vector.key")
            try SystemFile.write(path, Array("sealed-key-1 \(secret)\n".utf8))
            return .keyFile(path: path)
        default: return nil
        }
    }
}

enum VectorText {
    static func bytes(_ hex: String) throws -> [UInt8] {
        let bytes = try SecretBytes(count: hex.utf8.count / 2) { output throws(CryptoError) in
            try Array(hex.utf8).withRawBytes { text throws(CryptoError) in try Hexadecimal.decode(text, into: output) }
        }
        return bytes.withUnsafeBytes { Array($0) }
    }
}

struct VectorItem: Decodable, Sendable {
    let service, account: String
    let value: VectorContents?
    let result: String?
}

struct VectorSecrets: Decodable, Sendable {
    struct Key: Decodable, Sendable {
        let id: VectorBytes
        let epoch: UInt32
        let state: UInt8
        let key: VectorBytes
    }

    let root, commitment: VectorBytes
    let sealingKeys: [Key]
}

/// The section `vault` of `Fixtures/vectors/manifest.json`.
struct VaultVector: Decodable, Sendable, CustomTestStringConvertible {
    struct Reader: Decodable, Sendable {
        let group: String
        let credentials: [VectorCredential]
        let memory, watermarks: VectorBytes?
        let roster: VectorFile?
    }

    struct Expected: Decodable, Sendable {
        let result: String
        let rule: String?
        let items, refusedItems: [VectorItem]?
    }

    struct Intermediate: Decodable, Sendable {
        let service: VectorSecrets
    }

    let name: String
    let files: [VectorFile]
    let reader: Reader
    let expected: Expected
    let intermediate: Intermediate?

    var testDescription: String { name }

    static let all: [VaultVector] = VectorManifest.entries("vault")

    /// Creates a home with the vault and this user's memory of it.
    func placed() throws -> VaultFixture {
        let fixture = try VaultFixture(reader.group)
        try fixture.directory.directory("Vaults")
        if !files.isEmpty || reader.memory != nil { try fixture.directory.directory("Vaults/\(reader.group)") }
        for file in files {
            let path = try #require(file.path)
            if let slash = path.firstIndex(of: "/") {
                mkdir(fixture.beside(String(path[..<slash])), 0o700)
            }
            try SystemFile.write(fixture.beside(path), file.bytes(), mode: file.permissions)
        }
        if let memory = reader.memory {
            fixture.place.memory.store(try #require(PlaceMemory(parsing: memory.bytes)))
        }
        if let roster = reader.roster {
            let signed = try SignedRoster(verifying: roster.bytes(), group: reader.group)
            let memory = try #require(fixture.place.rosterMemory)
            try memory.overwrite(RosterMemory.Contents(teamKey: signed.roster.team, roster: signed))
        }
        if let marks = reader.watermarks {
            let vaultID = try #require(files.first { $0.path == "vault" }).bytes()[16..<32]
            try fixture.directory.directory("Watermarks")
            let leaf = "\(reader.group).\(vaultID.prefix(8).map { hexadecimal($0) }.joined()).marks"
            try SystemFile.write(fixture.directory.path("Watermarks/\(leaf)"), marks.bytes)
        }
        return fixture
    }

    private func hexadecimal(_ byte: UInt8) -> String { [byte].withUnsafeBytes { $0.hexadecimal } }
}

@Suite struct VaultVectorTests {
    @Test func thereAreVectorsForEveryRule() {
        let rules = Set(VaultVector.all.compactMap(\.expected.rule))
        #expect(VaultVector.all.count >= 100)
        #expect(rules.isSuperset(of: (1...22).map { "V\($0)" }), "\(rules.sorted())")
    }

    @Test(arguments: VaultVector.all)
    func opensAsExpected(vector: VaultVector) throws {
        for stated in vector.reader.credentials {
            let fixture = try vector.placed()
            guard let credential = try stated.credential(in: fixture) else { continue }
            var options = VaultOptions()
            options.settles = false
            do throws(VaultError) {
                let vault = try fixture.open(with: credential, options: options)
                let items = try vault.items()
                #expect(vector.expected.result == "ok", "\(stated.kind)")
                check(vault, items, vector)
            } catch {
                #expect(error.code.rawValue == vector.expected.result, "\(stated.kind): \(error)")
            }
        }
    }

    private func check(_ vault: Vault, _ items: [VaultItem], _ vector: VaultVector) {
        if let expected = vector.expected.items {
            #expect(items.count == expected.count + (vector.expected.refusedItems?.count ?? 0))
        }
        for item in vector.expected.items ?? [] {
            do throws(VaultError) {
                let value = try vault.copyValue(service: item.service, account: item.account)
                let isSame = value.withUnsafeBytes { item.value?.isSame(as: $0) ?? false }
                #expect(isSame, "\(item.service) \(item.account)")
            } catch {
                Issue.record(error)
            }
        }
        for item in vector.expected.refusedItems ?? [] {
            let found = code { () throws(VaultError) in
                _ = try vault.copyValue(service: item.service, account: item.account)
            }
            #expect(found?.rawValue == item.result)
        }
        guard let secrets = vector.intermediate?.service else { return }
        #expect(vault.keys.service.commitment.withUnsafeBytes { $0.elementsEqual(secrets.commitment.bytes) })
        for key in secrets.sealingKeys where key.state != 3 {
            let id = KeyID(bytes: key.id.bytes.withRawBytes { Bytes16($0) })
            let isSame = vault.keyring.sealingKey(for: id)?.withUnsafeBytes { $0.elementsEqual(key.key.bytes) }
            #expect(isSame == true, "epoch \(key.epoch)")
        }
    }
}

/// The section `backup` of `Fixtures/vectors/manifest.json`.
struct BackupVector: Decodable, Sendable, CustomTestStringConvertible {
    struct Reader: Decodable, Sendable {
        let group: String
        let credentials: [VectorCredential]
    }

    struct Expected: Decodable, Sendable {
        let result: String
        let rule: String?
        let items: [VectorItem]?
    }

    let name: String
    let file: String
    let reader: Reader
    let expected: Expected
    let intermediate: VectorSecrets?

    var testDescription: String { name }

    static let all: [BackupVector] = VectorManifest.entries("backup")
}

@Suite struct BackupVectorTests {
    @Test func thereAreVectorsForEveryRule() {
        let rules = Set(BackupVector.all.compactMap(\.expected.rule))
        #expect(BackupVector.all.count >= 30)
        #expect(rules.isSuperset(of: [4, 5, 6, 7, 8, 9, 16, 19, 20].map { "V\($0)" }), "\(rules.sorted())")
    }

    @Test(arguments: BackupVector.all)
    func isImportedAsExpected(vector: BackupVector) throws {
        for stated in vector.reader.credentials {
            let fixture = try VaultFixture(vector.reader.group)
            guard let credential = try stated.credential(in: fixture) else { continue }
            let path = "\(VectorManifest.folder)/\(vector.file)"
            guard case .passphrase(let words) = try passphrase("correct horse") else { return }
            do throws(VaultError) {
                let report = try Vault.import(
                    from: path, opening: credential, fixture.accessGroup, in: fixture.home,
                    slots: [.passphrase(words, .minimum), .defaultKeyFile])
                #expect(vector.expected.result == "ok")
                let keys = (vector.intermediate?.sealingKeys ?? []).filter { $0.state != 3 }
                #expect(report.keyCount == keys.count)
                try check(fixture.open(with: .passphrase(words)), vector)
            } catch {
                #expect(error.code.rawValue == vector.expected.result, "\(stated.kind): \(error)")
            }
        }
    }

    private func check(_ vault: Vault, _ vector: BackupVector) throws(VaultError) {
        let expected = vector.expected.items ?? []
        let count = try vault.items().count
        #expect(count == expected.count)
        for item in expected {
            let value = try vault.copyValue(service: item.service, account: item.account)
            let isSame = value.withUnsafeBytes { item.value?.isSame(as: $0) ?? false }
            #expect(isSame, "\(item.service) \(item.account)")
        }
    }
}
