import CryptoPrimitives
import SealedState
import Sealing
import TestSupport
import Testing

@testable import AppGroups
@testable import GroupIPC
@testable import KeyVault

/// An entry of the section `channel` of `Fixtures/vectors/manifest.json`, written by the second implementation.
struct ChannelVector: Decodable, Sendable, CustomTestStringConvertible {
    struct Writer: Decodable, Sendable {
        let label: String
        let publicKey: VectorBytes
    }

    struct Reader: Decodable, Sendable {
        let role, group, name: String
        let root, ephemeral: VectorBytes
        let limit: Int
        let writers: [Writer]
    }

    struct Frame: Decodable, Sendable {
        let kind: UInt8
        let number: UInt64
        let body: VectorContents
    }

    struct Expected: Decodable, Sendable {
        let result: String
        let rule: String?
        let message: VectorBytes?
        let frames: [Frame]?
        let writer: String?
    }

    struct Intermediate: Decodable, Sendable {
        let presharedKey, handshakeHash, clientKey, listenerKey: VectorBytes
    }

    let name: String
    let reader: Reader
    let expected: Expected
    let intermediate: Intermediate?
    private let input: VectorFile

    var testDescription: String { name }

    private enum Keys: CodingKey { case name, reader, expected, intermediate }

    init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: Keys.self)
        name = try values.decode(String.self, forKey: .name)
        reader = try values.decode(Reader.self, forKey: .reader)
        expected = try values.decode(Expected.self, forKey: .expected)
        intermediate = try values.decodeIfPresent(Intermediate.self, forKey: .intermediate)
        input = try VectorFile(from: decoder)
    }

    /// All entries. An unreadable manifest has no entries, which `ChannelVectorTests` reports.
    static let all: [ChannelVector] = VectorManifest.entries("channel")

    func bytes() throws -> [UInt8] { try input.bytes() }

    var role: NoiseRole { reader.role == "client" ? .initiator : .responder }
}

/// The library's result for a vector, by the steps of `ChannelConnection`, but for C1 in the handshake.
private struct VectorResult {
    private struct TooLarge: Error {}

    var code = "ok"
    var message: [UInt8] = []
    var hash: [UInt8] = []
    var frames: [ChannelFrame] = []
    var writer: String?

    init(_ vector: ChannelVector, by authority: RosterAuthority) throws {
        do { try read(vector, by: authority) } catch {
            switch error {
            case is CryptoError: code = "peerUnproven"
            case is TooLarge: code = "messageTooLarge"
            default: throw error
            }
        }
    }

    private mutating func read(_ vector: ChannelVector, by authority: RosterAuthority) throws {
        var rest = try vector.bytes()[...]
        var assembler = MessageAssembler(limit: NoiseHandshake.overhead + 1)
        var handshake = NoiseHandshake(
            vector.role, presharedKey: secret(presharedKey(vector)),
            prologue: Array("SealedState channel 1\0\(vector.reader.group)\0\(vector.reader.name)".utf8),
            ephemeral: try X25519.PrivateKey(secret(vector.reader.ephemeral.bytes)))
        if vector.role == .initiator { message = try handshake.write([1]) }
        let first = try #require(try next(&assembler, &rest))
        guard try handshake.read(first) == [1] else { throw CryptoError(.authenticationFailed, "version") }
        if vector.role == .responder { message = try handshake.write([1]) }
        hash = handshake.hash
        var transport = handshake.transport()
        assembler.limit = ChannelSealing.sealedSize(body: max(vector.reader.limit, 1025))
        let other: NoiseRole = vector.role == .initiator ? .responder : .initiator
        while let sealed = try next(&assembler, &rest) {
            let frame = try ChannelSealing.open(sealed, &transport.receiving)
            if frame.kind == .introduction {
                writer = try ChannelIntroduction.writer(frame.body, other, hash, by: authority)
            }
            frames.append(frame)
        }
    }

    /// Returns the next message of the socket; nil at the end of the stream, also within a message.
    private func next(_ assembler: inout MessageAssembler, _ rest: inout ArraySlice<UInt8>) throws -> [UInt8]? {
        while true {
            switch assembler.next() {
            case .message(let message): return message
            case .finished: return nil
            case .tooLarge: throw TooLarge()
            case .needs(let count):
                if rest.isEmpty { return nil }
                assembler.append(rest.prefix(count))
                rest = rest.dropFirst(count)
            }
        }
    }
}

private func secret(_ bytes: [UInt8]) -> SecretBytes {
    SecretBytes(count: bytes.count) { $0.copyBytes(from: bytes) }
}

private func presharedKey(_ vector: ChannelVector) -> [UInt8] {
    BLAKE2b.hash(
        [], key: vector.reader.root.bytes, personalization: Personalization("SealedState.chk1"), count: 32)
}

@Suite struct ChannelVectorTests {
    @Test func thereAreVectorsForEveryRuleOfTheDocument() throws {
        let path = VectorManifest.folder + "/../../docs/spec/channels.md"
        let text = String(decoding: try SystemFile.read(path), as: UTF8.self)
        let rules = Set(ChannelVector.all.compactMap(\.expected.rule))
        #expect(rules == Set((1...10).map { "C\($0)" }))
        for rule in rules { #expect(text.contains("- **\(rule)** ")) }
        #expect(!text.contains("**C11**"))
        let good = ChannelVector.all.filter { $0.expected.result == "ok" }
        #expect(Set(good.map(\.reader.role)) == ["client", "listener"])
        #expect(Set(good.flatMap { ($0.expected.frames ?? []).map(\.kind) }) == [0, 1, 2, 3, 4])
    }

    /// A roster in which the vectors' writer is active.
    private func authority(_ sandbox: IPCSandbox) async throws -> RosterAuthority {
        let team = try TeamKey.random()
        let writers = try #require(ChannelVector.all.first).reader.writers.map { writer in
            Roster.Writer(
                WriterPublicKey(try Ed25519.PublicKey(bytes: writer.publicKey.bytes)), label: writer.label)
        }
        let roster = Roster(
            group: sandbox.group.identifier, id: SecureRandom.bytes(count: 16).withRawBytes { Bytes16($0) }, version: 1,
            signedAt: 1, team: team.publicKey, writers: writers, rules: [])
        try SystemFile.write(sandbox.path(".sealedstate.roster"), try SignedRoster(signing: roster, with: team).bytes)
        var options = StoreOptions()
        options.teamKey = team.publicKey
        let store = try await SealedStore.open(group: sandbox.group, in: sandbox.home, options: options)
        return try #require(store.authority)
    }

    @Test func everyVectorHasItsResult() async throws {
        let sandbox = try IPCSandbox()
        let authority = try await authority(sandbox)
        for vector in ChannelVector.all {
            let found = try VectorResult(vector, by: authority)
            let expected = vector.expected
            #expect(found.code == expected.result, "\(vector.name)")
            guard expected.result == "ok", let frames = expected.frames else { continue }
            #expect(found.message == expected.message?.bytes, "\(vector.name)")
            #expect(found.writer == expected.writer, "\(vector.name)")
            #expect(found.hash == vector.intermediate?.handshakeHash.bytes, "\(vector.name)")
            #expect(presharedKey(vector) == vector.intermediate?.presharedKey.bytes, "\(vector.name)")
            #expect(found.frames.count == frames.count, "\(vector.name)")
            for (frame, stated) in zip(found.frames, frames) {
                let isSame = frame.kind.rawValue == stated.kind && frame.id == stated.number
                #expect(isSame && stated.body.isSame(as: frame.body), "\(vector.name)")
            }
            if vector.name == "good-codes" {
                #expect(found.frames.compactMap(\.failure?.code.rawValue) == [1, 2, 3, 4, 5, 6, 3])
            }
        }
    }

    /// The library seals the same frames to the same bytes.
    @Test func goodFramesAreWhatTheLibrarySeals() async throws {
        let sandbox = try IPCSandbox()
        let authority = try await authority(sandbox)
        for vector in ChannelVector.all {
            guard let keys = vector.intermediate else { continue }
            var cipher = NoiseCipher(
                secret(vector.role == .initiator ? keys.listenerKey.bytes : keys.clientKey.bytes))
            var stream: [UInt8] = []
            for frame in try VectorResult(vector, by: authority).frames {
                stream += MessageFrame.bytes(of: try ChannelSealing.seal(frame, &cipher))
            }
            let whole = try vector.bytes().dropFirst(MessageFrame.headerSize + NoiseHandshake.overhead + 1)
            #expect(whole.starts(with: stream), "\(vector.name)")
            #expect(whole.count == stream.count || vector.name == "good-cut", "\(vector.name)")
        }
    }
}
