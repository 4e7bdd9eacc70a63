import CryptoPrimitives
import Glibc
import Sealing
import TestSupport
import Testing

@testable import KeyVault

@Suite struct RosterTests {
    private let team: TeamKey
    private let writer: WriterKey
    private static let group = "group.com.example.roster"

    init() throws {
        team = try TeamKey.random()
        writer = try WriterKey.random()
    }

    private func roster(_ change: (inout Roster) throws -> Void = { _ in }) throws -> Roster {
        var roster = Roster(
            group: Self.group, id: Bytes16.zero, version: 3, signedAt: 1_700_000_000_000, team: team.publicKey,
            writers: [Roster.Writer(writer.publicKey, label: "the app — é")],
            rules: [
                Roster.Rule(try GovernedPattern("b/*"), grants: [writer.id: .write]),
                Roster.Rule(try GovernedPattern("a"), grants: [writer.id: .all]),
            ], floor: VaultFloor(period: 4, keyPeriod: 3))
        try change(&roster)
        return roster
    }

    /// Returns a file with any body, signed by the team key.
    private func file(_ body: [UInt8]) -> [UInt8] {
        body + team.sign(BLAKE2b.hash(body, personalization: .roster, count: 64))
    }

    private func verified(_ bytes: [UInt8]) throws(VaultError) -> SignedRoster {
        try SignedRoster(verifying: bytes, group: Self.group)
    }

    private func code(_ bytes: [UInt8]) -> VaultError.Code? {
        do throws(VaultError) {
            _ = try verified(bytes)
            return nil
        } catch {
            return error.code
        }
    }

    @Test func signedRostersAreReadAgain() throws {
        let retained = Roster.RetainedRecord(name: "a", sequence: 9, signedDigest: [UInt8](repeating: 7, count: 64))
        let other = try WriterKey.random()
        let original = try roster {
            $0.set(Roster.Writer(other.publicKey, label: "", state: .retired, retained: [retained]))
        }
        let signed = try SignedRoster(signing: original, with: team)
        let read = try verified(signed.bytes)
        #expect(read.roster == original)
        #expect(read.bytes == signed.bytes)
        #expect(read.roster.encoded == original.encoded)
    }

    @Test func everyChangedByteIsRefused() throws {
        let bytes = try SignedRoster(signing: roster(), with: team).bytes
        for index in bytes.indices {
            var changed = bytes
            changed[index] ^= 1
            #expect(code(changed) != nil, "byte \(index)")
        }
        for size in 0..<bytes.count { #expect(code(Array(bytes.prefix(size))) != nil) }
        #expect(code(bytes + [0]) != nil)
    }

    @Test func unknownCriticalPartIsUnsupportedAndAnotherIsKept() throws {
        let body = try roster().encoded
        func part(flags: UInt8) -> [UInt8] { [99, 0, flags, 0, 3, 0, 0, 0, 1, 2, 3] }
        #expect(code(file(body + part(flags: 1))) == .unsupported)
        #expect(code(file(body + part(flags: 2))) == .unsupported)
        let kept = try verified(file(body + part(flags: 0)))
        #expect(kept.roster.unknownParts == [Roster.UnknownPart(type: 99, bytes: [1, 2, 3])])
        var next = kept.roster
        next.version += 1
        let resigned = try SignedRoster(signing: next, with: team)
        #expect(resigned.bytes.dropLast(64).suffix(11).elementsEqual(part(flags: 0)))
    }

    @Test func otherOrderAndDuplicatesAreRefused() throws {
        let one = try SignedRoster(signing: roster { $0.floor = VaultFloor() }, with: team)
        let body = Array(one.bytes.dropLast(64))
        // The last part is the rule b/*. A second rule of the same pattern is invalid.
        let rule = Array(body.suffix(8 + 8 + 4 + 1 + 4 + 24))
        #expect(code(file(body)) == nil)
        #expect(code(file(body + rule)) == .malformedRoster)
    }

    @Test func signatureOfAnotherKeyOrAnotherUseIsRefused() throws {
        let signed = try SignedRoster(signing: roster(), with: team)
        let body = Array(signed.bytes.dropLast(64))
        let digest = BLAKE2b.hash(body, personalization: .roster, count: 64)
        #expect(code(body + (try TeamKey.random()).sign(digest)) == .wrongTeamKey)
        // The same seed is used for a writer key, in another context.
        #expect(code(body + writer.sign(digest)) == .wrongTeamKey)
        let other = BLAKE2b.hash(body, personalization: .teamSuccession, count: 64)
        #expect(code(body + team.sign(other)) == .wrongTeamKey)
        #expect(throws: VaultError.self) {
            _ = try SignedRoster(verifying: signed.bytes, group: "group.com.example.other")
        }
    }

    @Test func chainOfTeamKeysIsVerified() throws {
        let (second, third) = (try TeamKey.random(), try TeamKey.random())
        let chained = try roster().succeeded(by: second.publicKey, naming: team)
            .succeeded(by: third.publicKey, naming: second)
        let signed = try verified(SignedRoster(signing: chained, with: third).bytes)
        #expect(signed.teamKeys == [team.publicKey, second.publicKey, third.publicKey])
        // One link has another roster id, and another one is missing.
        var cut = chained
        cut.successions.removeFirst()
        #expect(try verified(SignedRoster(signing: cut, with: third).bytes).isOfTeam(team.publicKey) == false)
        var reordered = chained
        reordered.successions.reverse()
        #expect(try code(SignedRoster(signing: reordered, with: third).bytes) == .wrongTeamKey)
        let elsewhere = Roster(
            group: Self.group, id: [UInt8](repeating: 1, count: 16).withRawBytes { Bytes16($0) }, version: 1,
            signedAt: 1,
            team: third.publicKey, successions: chained.successions)
        #expect(try code(SignedRoster(signing: elsewhere, with: third).bytes) == .wrongTeamKey)
    }

    @Test(arguments: ["", "/", "a/", "/a", "a//b", "a*", "*/a", "a/**", ".a", "a/.b/*", "a b", "ä", "**"])
    func anInvalidPatternIsRefused(_ text: String) {
        #expect(throws: VaultError.self) { _ = try GovernedPattern(text) }
    }

    @Test(arguments: [
        ("a", ["a"], ["ab", "a/b", "A", "_sealed/a"]),
        ("a/*", ["a/b", "a/b/c"], ["a", "ab", "ab/c", "aa/b", "_sealed/a/b"]),
        ("*", ["a", "a/b", "_sealedx", "_sealedx/a"], ["_sealed/leases/a"]),
        ("_sealed/leases/*", ["_sealed/leases/a"], ["_sealed/defaults/a", "leases/a"]),
    ])
    func patternGovernsNames(_ text: String, _ names: [String], _ others: [String]) throws {
        let pattern = try GovernedPattern(text)
        #expect(pattern.description == text)
        for name in names { #expect(pattern.governs(name), "\(text) \(name)") }
        for name in others { #expect(!pattern.governs(name), "\(text) \(name)") }
        let signed = try SignedRoster(signing: roster { $0.set(Roster.Rule(pattern, grants: [:])) }, with: team)
        for name in names + others {
            #expect(signed.rule(for: name) == signed.roster.rule(for: name), "\(text) \(name)")
        }
    }
}

@Suite struct SigningKeyFileTests {
    private func text(_ bytes: [UInt8]) -> SecretBytes { bytes.withRawBytes { SecretBytes(copying: $0) } }

    private func phrase(_ words: String) throws -> Passphrase { try Passphrase(text(Array(words.utf8))) }

    private var costs: PassphraseCosts {
        get throws { try PassphraseCosts(passes: 2, memoryKiB: 19 * 1024) }
    }

    @Test func plainAndProtectedFilesAreReadAgain() throws {
        let sandbox = try TemporaryFiles()
        let key = try WriterKey.random()
        try key.write(to: sandbox.path("plain"))
        let protection = KeyProtection(try phrase("right"), costs: try costs)
        try key.write(to: sandbox.path("protected"), protectedBy: protection)
        #expect(try WriterKey(contentsOf: sandbox.path("plain")).publicKey == key.publicKey)
        let read = try WriterKey(contentsOf: sandbox.path("protected")) { () throws(VaultError) in try Self.right() }
        #expect(read.publicKey == key.publicKey)
        #expect(read.sign([1]) == key.sign([1]))
        #expect(code { _ = try WriterKey(contentsOf: sandbox.path("protected")) } == .locked)
        #expect(
            code {
                _ = try WriterKey(contentsOf: sandbox.path("protected")) { () throws(VaultError) in try Self.wrong() }
            } == .wrongPassphrase)
        // Existing files are never overwritten.
        #expect(code { try key.write(to: sandbox.path("plain")) } == .file)
    }

    @Test func teamKeysAndIdentitiesHaveTheSameForms() throws {
        let sandbox = try TemporaryFiles()
        let protection = KeyProtection(try phrase("right"), costs: try costs)
        let team = try TeamKey.random()
        try team.write(to: sandbox.path("team"), protectedBy: protection)
        #expect(
            try TeamKey(contentsOf: sandbox.path("team")) { () throws(VaultError) in try Self.right() }.publicKey
                == team.publicKey)
        let identity = try Identity.random()
        try identity.write(to: sandbox.path("identity"), protectedBy: protection)
        #expect(
            try Identity(contentsOf: sandbox.path("identity")) { () throws(VaultError) in try Self.right() }.recipients
                == identity.recipients)
        #expect(
            code {
                _ = try Identity(contentsOf: sandbox.path("identity")) { () throws(VaultError) in try Self.wrong() }
            }
                == .wrongPassphrase)
        // A key of one kind is never accepted as another kind.
        #expect(
            code { _ = try WriterKey(contentsOf: sandbox.path("team")) { () throws(VaultError) in try Self.right() } }
                == .malformedKey)
    }

    @Test func cheapProtectionIsRefused() throws {
        let sandbox = try TemporaryFiles()
        let key = try WriterKey.random()
        for costs in [
            PassphraseCosts.readable(passes: 1, memoryKiB: 65_536), .readable(passes: 3, memoryKiB: 8192),
        ] {
            let protection = KeyProtection(try phrase("right"), costs: costs)
            #expect(code { try key.write(to: sandbox.path("cheap"), protectedBy: protection) } == .invalidArgument)
        }
    }

    @Test func filesOfOthersAreRefused() throws {
        let sandbox = try TemporaryFiles()
        try WriterKey.random().write(to: sandbox.path("key"))
        chmod(sandbox.path("key"), 0o640)
        #expect(code { _ = try WriterKey(contentsOf: sandbox.path("key")) } == .unsafeFile)
    }

    @Test func everyChangedCharacterIsRefused() throws {
        let sandbox = try TemporaryFiles()
        let key = try WriterKey.random()
        try key.write(to: sandbox.path("key"))
        let bytes = try SystemFile.read(sandbox.path("key"))
        let start = try #require(bytes.firstIndex(of: UInt8(ascii: "\n"))) + 1
        for index in start..<(bytes.count - 1) {
            var changed = bytes
            changed[index] = changed[index] == UInt8(ascii: "Q") ? UInt8(ascii: "P") : UInt8(ascii: "Q")
            #expect(code { _ = try WriterKey(text: text(changed)) } == .malformedKey)
        }
    }

    @Test func publicKeysOfSmallOrderAreRefused() throws {
        let key = try WriterKey.random().publicKey
        #expect(try WriterPublicKey(key.description) == key)
        #expect(code { _ = try TeamPublicKey(key.description) } == .malformedKey)
        #expect(code { _ = try WriterPublicKey("SEALED-WRITER-KEY-1QQQ") } == .malformedKey)
        // The encodings are the identity, a point of order 2, y = 0 (order 4), and a non-canonical encoding of the
        // identity.
        let identity = [1] + [UInt8](repeating: 0, count: 31)
        let two = [0xEC] + [UInt8](repeating: 0xFF, count: 30) + [0x7F]
        let four = [UInt8](repeating: 0, count: 32)
        let odd = [0xEE] + [UInt8](repeating: 0xFF, count: 30) + [0x7F]
        for bytes in [identity, two, four, odd] as [[UInt8]] {
            #expect(throws: CryptoError.self) { _ = try Ed25519.PublicKey(validating: bytes) }
        }
    }

    private static func right() throws(VaultError) -> Passphrase {
        try Passphrase(Array("right".utf8).withRawBytes { SecretBytes(copying: $0) })
    }

    private static func wrong() throws(VaultError) -> Passphrase {
        try Passphrase(Array("wrong".utf8).withRawBytes { SecretBytes(copying: $0) })
    }

    private func code(_ body: () throws -> Void) -> VaultError.Code? {
        do {
            try body()
            return nil
        } catch {
            return (error as? VaultError)?.code
        }
    }
}

private struct TemporaryFiles {
    private let directory: TemporaryDirectory
    init() throws { directory = try TemporaryDirectory() }
    func path(_ leaf: String) -> String { directory.path(leaf) }
}

/// Tests of a team key and the roster that it requires.
@Suite struct NeededRosterTests {
    /// Programs that know a team key refuse every record without a roster of that key.
    @Test func aTeamKeyNeedsARosterWhereThereIsAContainer() throws {
        let sandbox = try CertifiedSandbox(isCertified: false)
        let container = try sandbox.container()
        let files = try sandbox.fixture.copy().files
        #expect(code { () throws(VaultError) in try sandbox.certify(by: sandbox.team) } == .noRoster)
        let ada = try sandbox.open()
        let slot = sandbox.sandbox.bobSlot
        #expect(code { () throws(VaultError) in try ada.removeSlot(id: slot, certifiedBy: sandbox.team) } == .noRoster)
        let other = try TeamKey.random()
        try sandbox.put(
            try SignedRoster(signing: try sandbox.roster(1) { $0.team = other.publicKey }, with: other))
        #expect(code { () throws(VaultError) in try sandbox.certify(by: sandbox.team) } == .wrongTeamKey)
        sandbox.forgetRosters()
        #expect(code { () throws(VaultError) in try sandbox.certify(by: sandbox.team) } == .noRoster)
        #expect(try sandbox.fixture.copy().files == files)
        unlink("\(container.path)/.sealedstate.roster")
        try sandbox.put(try SignedRoster(signing: try sandbox.roster(1), with: sandbox.team))
        #expect(try sandbox.certify(by: sandbox.team).teamKey == sandbox.team.publicKey)
    }

    /// Services know the person key of a vault without persons, and could write any period into it.
    @Test func aVaultWithoutPersonsIsReplacedWhereTheRosterNamesAPeriod() throws {
        let sandbox = try CertifiedSandbox()
        try sandbox.put(
            try SignedRoster(signing: try sandbox.roster(1) { $0.floor = VaultFloor(period: 1) }, with: sandbox.team))
        let alone = try VaultFixture()
        try alone.create()
        try sandbox.fixture.restore(try alone.copy())
        try SystemFile.write(sandbox.fixture.keyFile, try SystemFile.read(alone.keyFile))
        try sandbox.fixture.forget()
        #expect(sandbox.refusals().last == .replaced)
        // A vault cannot be created either.
        for leaf in VaultPlace.leaves { unlink(sandbox.fixture.beside(leaf)) }
        #expect(code { () throws(VaultError) in try sandbox.fixture.create() } == .replaced)
        #expect(!SystemFile.exists(sandbox.fixture.path))
    }
}
