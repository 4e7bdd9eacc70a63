import AppGroups
import CryptoPrimitives
import Glibc
import Sealing
import SharedFiles
import TestSupport
import Testing

@testable import KeyVault

/// Tests of memory codes of holders who create or accept a vault.
@Suite struct MemoryCodeTests {
    @Test(arguments: [false, true]) func theCreatorsIdentityRecognisesTheVault(isOpener: Bool) throws {
        let fixture = try VaultFixture()
        let identity = try Identity.random()
        let slots: [NewSlot] =
            isOpener ? [.recipient(identity.recipient), .defaultKeyFile] : [.identity(identity), .defaultKeyFile]
        _ = try Vault.create(
            fixture.accessGroup, in: fixture.home, slots: slots,
            openingWith: isOpener ? .identity(identity) : .defaultKeyFile)
        #expect(try CompartmentHead(parsing: SystemFile.read(fixture.personPath), path: "").generation == 1)
        try fixture.forget()
        #expect(throws: Never.self) { try fixture.open(with: .identity(identity)) }
    }

    @Test(.enabled(if: ReadOnlyMount.isPossible)) func aHolderWhoCannotWriteTheSlotRemembersThePlace() throws {
        let sandbox = try RekeySandbox()
        let carol = try Identity.random()
        try sandbox.person().addSlot(.recipient(carol.recipient))
        try sandbox.fixture.forget()
        let mounted = try ReadOnlyMount(sandbox.fixture.directory.path("Vaults"))
        func refusal() -> VaultError.Code? {
            code { () throws(VaultError) in _ = try sandbox.fixture.open(with: .identity(carol)) }
        }
        #expect(refusal() == .notAccepted)
        let files = try sandbox.fixture.copy().files
        let other = String(repeating: "0", count: 32)
        let wrong = code { () throws(VaultError) in
            _ = try Vault.accept(
                sandbox.fixture.accessGroup, in: sandbox.fixture.home, with: .identity(carol), fingerprint: other)
        }
        #expect(wrong == .replaced && refusal() == .notAccepted)
        try sandbox.fixture.accept(.identity(carol))
        #expect(refusal() == nil)
        #expect(try #require(try sandbox.fixture.place.memory.load()).memoryCode != .zero)
        #expect(try sandbox.fixture.copy().files == files)
        withExtendedLifetime(mounted) {}
    }

    @Test(.enabled(if: ReadOnlyMount.isPossible))
    func aVaultThatWasRolledBackIsNotAcceptedWhereItCannotBeWritten() throws {
        let sandbox = try RekeySandbox()
        let before = try sandbox.fixture.copy()
        try sandbox.person().add("s", "later", .whenUnlocked)
        try sandbox.fixture.restore(before)
        let mounted = try ReadOnlyMount(sandbox.fixture.directory.path("Vaults"))
        let refusal = code { () throws(VaultError) in _ = try sandbox.fixture.accept(.identity(sandbox.ada)) }
        #expect(refusal == .file || refusal == .denied)
        #expect(code { () throws(VaultError) in _ = try sandbox.person() } == .rolledBack)
        withExtendedLifetime(mounted) {}
    }
}
