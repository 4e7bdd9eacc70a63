import CryptoPrimitives
import Sealing
import TestSupport
import Testing

@testable import KeyVault

/// Tests of the keys for token digests.
@Suite struct TokenKeyTests {
    private let fixture: VaultFixture

    init() throws { fixture = try VaultFixture() }

    private func bytes(_ vault: Vault) throws -> [UInt8] { try vault.withTokenKey { _, key in Array(key) } }

    @Test func everyProgramGetsTheSameKeyWithoutChangingTheVault() throws {
        let vault = try fixture.create()
        #expect(try bytes(vault) == bytes(fixture.open()))
        #expect(try bytes(vault).count == 32)
        #expect(vault.generation == 1)
        #expect(try SystemFile.read(fixture.path).firstRange(of: bytes(vault)) == nil)
    }

    @Test func itOutlivesRotations() throws {
        let vault = try fixture.create()
        let before = try bytes(vault)
        for _ in 0..<2 { try vault.completeRotation(to: vault.beginRotation()) }
        for key in try vault.keySummaries() where key.state == .decryptOnly { try vault.destroyKey(key.id) }
        #expect(try bytes(fixture.open()) == before)
    }

    @Test func aVaultWithoutOneGetsOneOnce() throws {
        let vault = try fixture.create()
        let before = try bytes(vault)
        try vault.change(.accepted) { draft throws(VaultError) in draft.service.tokenKeys = [] }
        let results = try concurrently(8) { _ in try bytes(try fixture.open()) }
        let found = Set(try results.map { try $0.get() })
        #expect(found.count == 1 && !found.contains(before))
        #expect(try vault.current().service.tokenKeys.count == 1)
    }

    @Test func anUnknownKeyReturnsNil() throws {
        #expect(try fixture.create().withTokenKey(Bytes16.zero) { _ in true } == nil)
    }

    // MARK: Refusals

    private func parsed(_ entries: [TokenKeyEntry]) -> VaultError.Code? {
        code { () throws(VaultError) in _ = try [TokenKeyEntry](parsing: entries.encoded[...], path: "") }
    }

    private func parsed(changing offset: Int) throws -> VaultError.Code? {
        var section = try fixture.openOrCreate().heldContents.service.tokenKeys.encoded
        section[offset] ^= 0x40
        return code { () throws(VaultError) in _ = try [TokenKeyEntry](parsing: section[...], path: "") }
    }

    @Test func twoActiveKeysOrOneTwiceAreCorrupt() throws {
        let entry = try #require(try fixture.create().heldContents.service.tokenKeys.first)
        let other = try #require(try VaultFixture().create().heldContents.service.tokenKeys.first)
        #expect(parsed([entry]) == nil)
        #expect(parsed([entry, other]) == .corrupt)
        var old = entry
        old.state = .checksOnly
        #expect(parsed([entry, old]) == .corrupt)
    }

    @Test(arguments: [16, 17, 23]) func aStateOfALaterVersionIsUnsupportedAndAReservedByteIsCorrupt(offset: Int) throws
    {
        #expect(try parsed(changing: offset) == (offset == 16 ? .unsupported : .corrupt))
    }

    /// A backup imports older keys than the vault has.
    @Test func keysAreWrittenInTheOrderOfTheirCreation() throws {
        let vault = try fixture.create()
        let (vaultID, root) = (vault.heldContents.vaultID, vault.keys.service)
        let entries = [30, 10, 20].map { (time: UInt64) in
            var entry = TokenKeyEntry.random(vaultID: vaultID, createdAt: time, root: root)
            entry.state = .checksOnly
            return entry
        }
        #expect(parsed(entries) == nil)
        #expect(parsed([entries[0], entries[1]]) == nil)
        let outOfOrder = entries[0...1].flatMap { [$0].encoded }
        #expect(
            code { () throws(VaultError) in _ = try [TokenKeyEntry](parsing: outOfOrder[...], path: "") } == .corrupt)
    }

    @Test func aSectionThatIsCutOrTooLongIsCorrupt() throws {
        let section = try fixture.create().heldContents.service.tokenKeys.encoded
        let cut = code { () throws(VaultError) in _ = try [TokenKeyEntry](parsing: section.dropLast(), path: "") }
        #expect(cut == .corrupt)
        let long = [UInt8](repeating: 0, count: 257 * TokenKeyEntry.encodedSize)
        #expect(code { () throws(VaultError) in _ = try [TokenKeyEntry](parsing: long[...], path: "") } == .corrupt)
    }

    @Test func aKeyOfAnotherVaultDoesNotFit() throws {
        let vault = try fixture.create()
        let other = try #require(try VaultFixture().create().heldContents.service.tokenKeys.first)
        try vault.change(.accepted) { draft throws(VaultError) in draft.service.tokenKeys = [other] }
        #expect(code { () throws(VaultError) in _ = try vault.withTokenKey { id, _ in id } } == .corrupt)
    }
}
