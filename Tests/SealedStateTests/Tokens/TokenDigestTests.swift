import AppGroups
import CryptoPrimitives
import FoundationEssentials
import KeyVault
import Sealing
import TestSupport
import Testing

@testable import SealedState

/// The record of the documentation by which an app informs its extensions of a login.
private struct SharedAuthState: SealedRecord, Equatable {
    static let recordName = "shared_auth_state"
    static let schemaVersion = 1
    var accessTokenDigest: TokenDigest?
    var tokenExpiresAt: Date?
    var expiresAt: Date? { tokenExpiresAt }
    var isAuthenticated: Bool { accessTokenDigest != nil }
}

@Suite struct TokenDigestTests {
    private static let token = "eyJhbGciOi.a-token-that-is-long-enough-to-be-searched-for"
    private let fixture: StoreFixture
    private let store: SealedStore

    init() throws {
        fixture = try StoreFixture()
        store = try fixture.open()
    }

    // MARK: Vectors

    private struct Vector: Decodable, CustomTestStringConvertible {
        struct Reader: Decodable {
            let digest: String
            let token: VectorBytes
            let keys: [VectorBytes]
        }

        struct Expected: Decodable {
            let result: String
        }

        let name: String
        let reader: Reader
        let expected: Expected

        var testDescription: String { name }

        /// The answer of this library about the digest, in the names of the vector.
        var answer: String {
            guard let digest = TokenDigest(reader.digest) else { return "malformed" }
            let key = reader.keys.first { key in
                let id = BLAKE2b.hash(
                    [], key: key.bytes, personalization: Personalization("SealedState.tki1"), count: 16)
                return digest.keyID.withUnsafeBytes { $0.elementsEqual(id) }
            }
            guard let key else { return "unknownKey" }
            let isDigest = reader.token.bytes.withRawBytes { token in
                key.bytes.withRawBytes { digest.isDigest(of: token, key: $0) }
            }
            return isDigest ? "ok" : "noMatch"
        }
    }

    @Test func vectorsHaveTheExpectedResult() {
        let vectors: [Vector] = VectorManifest.entries("tokenDigest")
        #expect(vectors.count >= 15)
        for vector in vectors { #expect(vector.answer == vector.expected.result, "\(vector.name)") }
    }

    // MARK: Recognising

    @Test func aDigestRecognisesItsTokenAndNoOther() throws {
        let digest = try store.digest(of: Self.token)
        #expect(try digest.matches(Self.token, in: store))
        for other in ["", "e", Self.token + "x", String(Self.token.dropLast()), String(Self.token.reversed())] {
            #expect(try !digest.matches(other, in: store))
        }
    }

    @Test func everyFormOfTheBytesIsTheSameToken() throws {
        let bytes = Array(Self.token.utf8)
        let digest = try store.digest(of: bytes)
        #expect(try digest.matches(Self.token, in: store))
        #expect(try digest.matches(Data(bytes), in: store))
        let raw = try bytes.withUnsafeBytes { try digest.matches($0, in: store) }
        #expect(raw)
        #expect(try store.digest(of: Data(bytes)).matches(bytes, in: store))
        #expect(try store.digest(of: "short").matches(Array("short".utf8), in: store))
    }

    @Test func twoDigestsOfOneTokenDiffer() throws {
        let digests = try (0..<8).map { _ in try store.digest(of: Self.token) }
        #expect(Set(digests).count == 8)
        #expect(Set(digests.map(\.salt)).count == 8)
        #expect(Set(digests.map(\.hash)).count == 8)
    }

    @Test func anEmptyTokenHasNone() {
        #expect(code { _ = try store.digest(of: "") } == .unencodable)
        #expect(code { _ = try store.digest(of: [UInt8]()) } == .unencodable)
    }

    @Test func anotherProgramOfTheGroupRecognisesIt() throws {
        let digest = try store.digest(of: Self.token)
        #expect(try digest.matches(Self.token, in: fixture.open()))
    }

    @Test func anotherGroupCannotDetectIt() throws {
        let other = try StoreFixture("group.com.example.other").open()
        let digest = try store.digest(of: Self.token)
        #expect(code { _ = try digest.matches(Self.token, in: other) } == .unknownKey)
    }

    // MARK: Lasting

    @Test func itOutlivesRotationsAndTheKeysThatWereDestroyed() throws {
        try store.write(SharedAuthState(accessTokenDigest: store.digest(of: Self.token)))
        try store.rotate()
        for key in try store.rotationStatus().keys where key.state == .decryptOnly { try store.destroyKey(key.id) }
        let state = try fixture.open().read(SharedAuthState.self)
        let digest = try #require(state.accessTokenDigest)
        #expect(try digest.matches(Self.token, in: store))
    }

    @Test func itOutlivesABackup() throws {
        let digest = try store.digest(of: Self.token)
        let identity = try Identity.random()
        let backup = fixture.place.path("backup")
        _ = try store.vault.export(to: backup, for: [.recipient(identity.recipient)])
        let there = try StoreFixture()
        _ = try Vault.import(
            from: backup, opening: .identity(identity), AccessGroup(there.group), in: there.home,
            slots: [.defaultKeyFile])
        let restored = try there.open()
        #expect(try digest.matches(Self.token, in: restored))
        // New digests have a key that is unknown to the readers of the backup.
        let fresh = try restored.digest(of: Self.token)
        #expect(try fresh.matches(Self.token, in: restored))
        #expect(code { _ = try fresh.matches(Self.token, in: store) } == .unknownKey)
    }

    // MARK: In a record

    @Test func aRecordKeepsItAsOneText() throws {
        let digest = try store.digest(of: Self.token)
        let end = Date(timeIntervalSinceNow: 3600)
        let state = SharedAuthState(accessTokenDigest: digest, tokenExpiresAt: end)
        try store.write(state)
        let read = try store.read(SharedAuthState.self)
        #expect(read.accessTokenDigest == digest && read.isAuthenticated)
        let json = try JSONEncoder().encode([digest])
        #expect(String(decoding: json, as: UTF8.self) == "[\"\(digest)\"]")
    }

    @Test func nothingOfTheTokenIsOnTheDisk() throws {
        try store.write(SharedAuthState(accessTokenDigest: store.digest(of: Self.token)))
        let needle = Array(Self.token.utf8.prefix(12))
        for file in try fixture.files() {
            #expect(try SystemFile.read(fixture.place.path(file)).firstRange(of: needle) == nil, "\(file)")
        }
        #expect(try !"\(store.digest(of: Self.token))".contains(Self.token.prefix(8)))
    }

    // MARK: Text

    @Test func itsTextIsReadBack() throws {
        let digest = try store.digest(of: Self.token)
        #expect(digest.description.utf8.count == 4 + 128)
        #expect(TokenDigest(digest.description) == digest)
    }

    @Test func anyOtherTextIsRefused() throws {
        let text = try store.digest(of: Self.token).description
        let digits = text.dropFirst(4)
        for other in [
            "", "td1:", "td2:" + digits, "TD1:" + digits, String(digits), text + "0", String(text.dropLast()),
            String(text.dropLast()) + "g", "td1:" + String(repeating: "A", count: 128), " " + text, text + "\n",
            "td1:" + String(repeating: "\u{661}", count: 64),
        ] {
            #expect(TokenDigest(other) == nil, "\(other)")
            let json = try JSONEncoder().encode([other])
            #expect(throws: DecodingError.self) { try JSONDecoder().decode([TokenDigest].self, from: json) }
        }
    }

    /// Vectors of another implementation: Python's hashlib.blake2b, keyed by 32 bytes 0, 1, 2, … with the salt 16 bytes
    /// 0x40, 0x41, …
    @Test func theHashIsTheDocumentedOne() {
        let key = (0..<32).map { UInt8($0) }
        let salt = Bytes16(filling: { for index in 0..<16 { $0[index] = 0x40 + UInt8(index) } })
        let hash = Array("token".utf8).withUnsafeBytes { token in
            key.withUnsafeBytes { TokenDigest.hash(token, salt: salt, key: $0) }
        }
        #expect(
            hash.withUnsafeBytes { $0.hexadecimal }
                == "632ab3ccde94f30b99d45c0eaf96ec162d832853318600d058fa0a5cae378d62")
    }
}
