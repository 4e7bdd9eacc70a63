import AppGroups
import CryptoPrimitives
import Sealing
import SharedFiles
import TestSupport
import Testing

@testable import KeyVault

/// The section `roster` of `Fixtures/vectors/manifest.json`.
struct RosterVector: Decodable, Sendable, CustomTestStringConvertible {
    struct Reader: Decodable, Sendable {
        let group: String
        let teamKeys: [VectorBytes]
        let accepted: VectorFile?
    }

    struct Contents: Decodable, Sendable {
        struct Writer: Decodable, Sendable {
            struct Record: Decodable, Sendable {
                let name: String
                let sequence: UInt64
                let digest: VectorBytes
            }

            let id, publicKey: VectorBytes
            let state: UInt8
            let label: String
            let records: [Record]
        }

        struct Rule: Decodable, Sendable {
            struct Grant: Decodable, Sendable {
                let writer: VectorBytes
                let rights: UInt8
            }

            let pattern: String
            let grants: [Grant]
        }

        let id, teamKey: VectorBytes
        let version, signedAt: UInt64
        let lowestPeriod, lowestKeyPeriod: UInt32
        let formerTeamKeys: [VectorBytes]
        let writers: [Writer]
        let rules: [Rule]
    }

    struct Expected: Decodable, Sendable {
        let result: String
        let rule: String?
        let roster: Contents?
    }

    let name, file: String
    let reader: Reader
    let expected: Expected

    var testDescription: String { name }

    func bytes() throws -> [UInt8] { try SystemFile.read("\(VectorManifest.folder)/\(file)") }

    static let all: [RosterVector] = VectorManifest.entries("roster")
}

/// The section `signedRecord` of `Fixtures/vectors/manifest.json`.
struct SignedRecordVector: Decodable, Sendable, CustomTestStringConvertible {
    struct Reader: Decodable, Sendable {
        let group, name: String
        let key: VectorBytes
        let keyEpoch, minimumEpoch: UInt32
        let roster: VectorFile
    }

    struct Expected: Decodable, Sendable {
        let result: String
        let rule: String?
        let plaintext: VectorContents?
        let writer: VectorBytes?
    }

    struct Intermediate: Decodable, Sendable {
        let writerID, signedDigest, signature: VectorBytes
        let rosterVersion: UInt64
    }

    let name, file: String
    let reader: Reader
    let expected: Expected
    let intermediate: Intermediate?

    var testDescription: String { name }

    static let all: [SignedRecordVector] = VectorManifest.entries("signedRecord")
}

@Suite struct WriterVectorTests {
    private struct Keys: SealingKeySource {
        let key: SealingKey
        let minimumEpoch: UInt32
        func sealingKey(for id: KeyID) -> SealingKey? { key.sealingKey(for: id) }
    }

    @Test func thereAreVectorsForEveryRule() {
        #expect(Set(RosterVector.all.compactMap(\.expected.rule)) == Set((1...9).map { "S\($0)" }))
        let rules = Set(SignedRecordVector.all.compactMap(\.expected.rule))
        #expect(rules.isSuperset(of: (2...7).map { "W\($0)" }))
    }

    @Test(arguments: RosterVector.all)
    func rosterIsAcceptedOrRefusedAsExpected(vector: RosterVector) throws {
        let directory = try TemporaryDirectory()
        let (group, home) = (try AppGroup(vector.reader.group), GroupsHome(root: directory.path))
        let bytes = try vector.bytes()
        try SystemFile.write(try directory.directory("container") + "/" + ContainerLayout.roster, bytes)
        let known = try vector.reader.teamKeys.map { TeamPublicKey(try Ed25519.PublicKey(validating: $0.bytes)) }
        let stated = try #require(known.first)
        let accepted = try vector.reader.accepted.map {
            try SignedRoster(verifying: $0.bytes(), group: vector.reader.group)
        }
        if accepted != nil || known.count > 1 {
            try RosterMemory(of: group, in: home)
                .store(RosterMemory.Contents(teamKey: known.last ?? stated, roster: accepted))
        }
        let container = try Directory.open(directory.path("container"))
        let authority = try #require(try RosterAuthority.find(group, in: container, home: home, teamKey: stated))
        let current = authority.current()
        let code = current.condition == .current ? "ok" : current.condition.code
        #expect((code == "older" ? "olderRoster" : code) == vector.expected.result, "\(current.condition)")
        guard let expected = vector.expected.roster else { return #expect(current.roster == accepted) }
        let roster = try #require(current.roster).roster
        #expect(current.roster?.bytes == bytes)
        check(roster, expected)
    }

    private func check(_ roster: Roster, _ expected: RosterVector.Contents) {
        #expect(roster.id.withUnsafeBytes { $0.elementsEqual(expected.id.bytes) })
        #expect(roster.version == expected.version && roster.signedAt == expected.signedAt)
        let floor = VaultFloor(period: expected.lowestPeriod, keyPeriod: expected.lowestKeyPeriod)
        #expect(roster.floor == floor && roster.team.key.bytes == expected.teamKey.bytes)
        #expect(roster.successions.map(\.former.key.bytes) == expected.formerTeamKeys.map(\.bytes))
        #expect(roster.writers.map { $0.id.bytes.hexadecimal } == expected.writers.map { hexadecimal($0.id) })
        for (writer, stated) in zip(roster.writers, expected.writers) {
            #expect(writer.publicKey.key.bytes == stated.publicKey.bytes && writer.label == stated.label)
            #expect(writer.state.rawValue == stated.state && writer.retained.count == stated.records.count)
            for record in stated.records {
                #expect(
                    writer.retained.contains(
                        Roster.RetainedRecord(
                            name: record.name, sequence: record.sequence, signedDigest: record.digest.bytes)))
            }
        }
        #expect(roster.rules.map(\.pattern.description) == expected.rules.map(\.pattern))
        for (rule, stated) in zip(roster.rules, expected.rules) {
            let grants = stated.grants.map {
                (WriterID(bytes: $0.writer.bytes.withRawBytes { Bytes16($0) }), $0.rights)
            }
            #expect(rule.grants == Dictionary(uniqueKeysWithValues: grants.map { ($0, Roster.Rights(rawValue: $1)) }))
        }
    }

    private func hexadecimal(_ bytes: VectorBytes) -> String { bytes.bytes.withUnsafeBytes { $0.hexadecimal } }

    @Test(arguments: SignedRecordVector.all)
    func signedRecordIsJudgedAsExpected(vector: SignedRecordVector) throws {
        let (reader, expected) = (vector.reader, vector.expected)
        let secret = reader.key.bytes.withRawBytes { SecretBytes(copying: $0) }
        let keys = Keys(
            key: try SealingKey(secret: secret, epoch: reader.keyEpoch), minimumEpoch: reader.minimumEpoch)
        let context = BlobContext(group: reader.group, kind: .record, name: reader.name)
        let roster = try SignedRoster(verifying: reader.roster.bytes(), group: reader.group)
        let blob = try SystemFile.read("\(VectorManifest.folder)/\(vector.file)")
        do throws(SealingError) {
            let opened = try blob.withRawBytes { blob throws(SealingError) in
                try BlobOpener.open(blob, context: context, keys: keys, limit: .max)
            }
            let evidence = opened.plaintext.withUnsafeBytes { contents in
                RecordEvidence(
                    group: reader.group, name: reader.name, header: opened.header.header, trailer: opened.trailer,
                    contents: contents)
            }
            check(roster.authorise(evidence), expected)
            if let contents = expected.plaintext {
                let isSame = opened.plaintext.withUnsafeBytes { contents.isSame(as: $0) }
                #expect(isSame)
            }
            guard let intermediate = vector.intermediate else { return }
            #expect(evidence.digest == intermediate.signedDigest.bytes)
            #expect(opened.trailer?.signature == intermediate.signature.bytes)
            #expect(opened.trailer?.rosterVersion == intermediate.rosterVersion)
            #expect(opened.header.header.writer.bytes.withUnsafeBytes { $0.elementsEqual(intermediate.writerID.bytes) })
        } catch {
            #expect(error.code.rawValue == expected.result)
        }
    }

    private func check(_ authorisation: Authorisation, _ expected: SignedRecordVector.Expected) {
        switch authorisation {
        case .notGoverned: #expect(expected.result == "ok" && expected.writer == nil)
        case .authorised(let id):
            #expect(expected.result == "ok")
            let found = id.bytes.withUnsafeBytes { Array($0) }
            #expect(found == expected.writer?.bytes)
        case .refused: #expect(expected.result == "notAuthorized")
        case .rosterBehind: #expect(expected.result == "rosterBehind")
        }
    }
}
