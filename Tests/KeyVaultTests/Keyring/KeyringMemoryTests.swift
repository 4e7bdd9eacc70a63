import CryptoPrimitives
import Sealing
import SharedFiles
import TestSupport
import Testing

@testable import KeyVault

/// Tests of the memory that the keys of a vault take.
@Suite struct KeyringMemoryTests {
    /// An allocation for each key would take four mappings: 131,072, twice the limit of a process.
    @Test func aFullKeyringTakesFewMemoryMappings() throws {
        let fixture = try VaultFixture()
        try fixture.create()
        try fixture.plant { draft in draft.fillKeyring(upTo: KeyringEntry.maximumCount) }
        let result = try ChildProcess.run(
            "sealed-probe", ["vault-mappings", fixture.directory.path, fixture.group.identifier, "8"])
        #expect(result.exitCode == 0, "\(result)")
        let numbers = result.outputText.split(whereSeparator: \.isWhitespace).compactMap { Int($0) }
        #expect(numbers.first == 8 * KeyringEntry.maximumCount, "\(result)")
        #expect(try #require(numbers.last) < 4096, "\(result)")
    }

    @Test func keysThatShareARegionAreThoseOfTheirEntries() throws {
        let fixture = try VaultFixture()
        try fixture.create()
        try fixture.plant { draft in draft.fillKeyring(upTo: 300) }
        let vault = try fixture.open()
        let contents = try vault.current()
        for entry in try contents.service.keyring {
            let alone = try entry.key(vaultID: contents.vaultID, root: vault.keys.service, path: fixture.path)
            let shared = try #require(contents.keyring.sealingKey(for: alone.id))
            #expect(shared.epoch == entry.epoch)
            #expect(shared.withUnsafeBytes { Array($0) } == alone.withUnsafeBytes { Array($0) })
        }
    }

    @Test func keysThatDoNotFitAreLeftOutForPersonsOnly() throws {
        let sandbox = try RekeySandbox()
        try sandbox.fixture.plant { draft in
            draft.fillKeyring(upTo: 5)
            draft.service.keyring[2].wrappedKey[40] ^= 1
        }
        #expect(code { () throws(VaultError) in _ = try sandbox.fixture.open() } == .corrupt)
        let epochs = try sandbox.person().current().service.keyring.map(\.epoch)
        let ids = try sandbox.person().currentKeyring()
        let held = try sandbox.person().current().service.keyring.filter {
            ids.sealingKey(for: KeySummary($0).id)?.epoch == $0.epoch
        }
        #expect(held.map(\.epoch) == epochs.enumerated().filter { $0.offset != 2 }.map(\.element))
    }

    /// Missing memory does not concern the data, so the error is neither `corrupt` nor `malformed…`.
    @Test func missingMemoryIsItsOwnError() {
        #expect(
            code { () throws(VaultError) in _ = try SecretBytes(count: 1 << 48) { _ throws(VaultError) in } }
                == .outOfMemory)
        let refusal = VaultError(.malformedKeyFile, "read", "a file", "It is invalid.")
        let missing = CryptoError(.outOfMemory, "secret memory")
        #expect(VaultError(missing, meaning: refusal).code == .outOfMemory)
        #expect(VaultError(CryptoError(.malformedEncoding, "text"), meaning: refusal) == refusal)
        #expect(throws: FileError.self) { _ = try SecretBytes(count: 1 << 48) { _ throws(FileError) in } }
    }
}
