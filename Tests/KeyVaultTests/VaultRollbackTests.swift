import AppGroups
import Glibc
import Sealing
import TestSupport
import Testing

@testable import KeyVault

/// Tests that an older copy of the vault is refused if this user's programs have seen a newer one.
@Suite struct VaultRollbackTests {
    /// Returns the vault's file before and after a change.
    private func twoWrites(_ fixture: VaultFixture) throws -> (old: [UInt8], new: [UInt8]) {
        let vault = try fixture.create()
        let old = try SystemFile.read(fixture.path)
        _ = try vault.beginRotation()
        return (old, try SystemFile.read(fixture.path))
    }

    @Test func anOlderCopyIsRefusedAndLeftAsItIs() throws {
        let fixture = try VaultFixture()
        let (old, _) = try twoWrites(fixture)
        try SystemFile.write(fixture.path, old)
        #expect(code { () throws(VaultError) in _ = try fixture.open() } == .rolledBack)
        #expect(code { () throws(VaultError) in _ = try fixture.openOrCreate() } == .rolledBack)
        #expect(try SystemFile.read(fixture.path) == old)
    }

    @Test func anInventoryRefusesAnOlderCopyAndRemembersNothing() throws {
        let fixture = try VaultFixture()
        let (old, new) = try twoWrites(fixture)
        let marks = fixture.directory.path("Watermarks")
        let before = try SystemFile.names(marks).map { try SystemFile.read("\(marks)/\($0)") }
        try SystemFile.write(fixture.path, old)
        #expect(
            code { () throws(VaultError) in
                _ = try Vault.inventory(fixture.accessGroup, in: fixture.home)
            } == .rolledBack)
        try SystemFile.write(fixture.path, new)
        #expect(try Vault.inventory(fixture.accessGroup, in: fixture.home).keys.count == 2)
        #expect(try SystemFile.names(marks).map { try SystemFile.read("\(marks)/\($0)") } == before)
    }

    @Test func anotherProcessRefusesItAsWell() throws {
        let fixture = try VaultFixture()
        let (old, _) = try twoWrites(fixture)
        try SystemFile.write(fixture.path, old)
        let child = try ChildProcess("sealed-probe", ["vault-key", fixture.directory.path, fixture.group.identifier])
        #expect(try child.readLine() == "ready")
        try child.write("go\n")
        #expect(try child.readLine() == "rolledBack")
        #expect(try child.finish().exitCode == 1)
    }

    @Test func anOpenStoreRefusesItAsWell() throws {
        let fixture = try VaultFixture()
        let (old, _) = try twoWrites(fixture)
        let vault = try fixture.open()
        try SystemFile.write(fixture.path, old)
        #expect(code { () throws(VaultError) in _ = try vault.activeKey() } == .rolledBack)
        #expect(code { () throws(VaultError) in try vault.completeRotation(to: 2) } == .rolledBack)
        #expect(vault.keyring.active?.epoch == 2)
    }

    @Test func theNewestCopyIsTakenBack() throws {
        let fixture = try VaultFixture()
        let (old, new) = try twoWrites(fixture)
        try SystemFile.write(fixture.path, old)
        #expect(code { () throws(VaultError) in _ = try fixture.open() } == .rolledBack)
        try SystemFile.write(fixture.path, new)
        #expect(try fixture.open().activeKey().epoch == 2)
    }

    @Test func anotherWriteOfTheSameNumberIsRefused() throws {
        let fixture = try VaultFixture()
        let (old, new) = try twoWrites(fixture)
        // The other history is written elsewhere, with the key and without the memory of the first.
        let other = try VaultFixture()
        _ = try other.directory.directory("Vaults")
        _ = try other.directory.directory("Vaults/\(other.accessGroup)")
        _ = try other.directory.directory("Keys")
        try SystemFile.write(other.path, old)
        try SystemFile.write(other.keyFile, try SystemFile.read(fixture.keyFile))
        _ = try other.open().beginRotation()
        let fork = try SystemFile.read(other.path)
        #expect(fork != new)
        try SystemFile.write(fixture.path, fork)
        #expect(code { () throws(VaultError) in _ = try fixture.open() } == .rolledBack)
    }

    @Test func aPersonMayAcceptAnOlderCopyAndGoesBeyondTheNewest() throws {
        let fixture = try VaultFixture()
        let (old, new) = try twoWrites(fixture)
        try SystemFile.write(fixture.path, old)
        try Vault.accept(fixture.accessGroup, in: fixture.home)
        let vault = try fixture.open()
        #expect(try vault.activeKey().epoch == 1)
        try SystemFile.write(fixture.path, new)
        #expect(code { () throws(VaultError) in _ = try fixture.open() } == .rolledBack)
    }
}

/// Tests of forgeries: any user who knows a recipient can create a slot for it, and so a whole vault.
@Suite struct ForgedVaultTests {
    /// Creates a vault with the same id as another one, from the visible contents of that vault's files.
    private func forge(
        _ fixture: VaultFixture, for identity: Identity, generation: UInt64 = 9
    ) throws -> VaultFixture.Copy {
        let id = try CompartmentHead(parsing: SystemFile.read(fixture.path), path: "").vaultID
        let place = fixture.place
        var draft = try VaultDraft(making: id, place: place)
        try draft.add(try NewSlot.recipient(identity.recipient).maker(for: place).prepare(vaultID: id))
        _ = draft.addFirstKey(1)
        draft.service.generation = generation
        draft.person?.generation = generation
        return VaultFixture.Copy(files: ["vault.person": try draft.file(.person), "vault": try draft.file(.service)])
    }

    private func open(_ fixture: VaultFixture, _ keys: String) throws -> String {
        try ChildProcess.run(
            "sealed-probe", ["vault-open-identity", fixture.directory.path, fixture.group.identifier, keys]
        ).outputText
    }

    /// The test uses separate processes, so that only the state on disk is remembered.
    @Test func aForgedVaultOfTheSameIDIsNotTakenForTheOldOne() throws {
        let fixture = try VaultFixture()
        let identity = try Identity.random()
        try fixture.create(with: .identity(identity))
        let keys = fixture.directory.path("identity")
        try identity.write(to: keys)
        #expect(try open(fixture, keys) == "opened\n")
        try fixture.restore(try forge(fixture, for: identity))
        #expect(try open(fixture, keys) == "replaced\n")
        // Without any memory of the place, the holder's slot has no memory code for it.
        try fixture.forget()
        #expect(try open(fixture, keys) == "notAccepted\n")
    }

    @Test func aProgramThatHasTheRealOneOpenDoesNotTakeItEither() throws {
        let fixture = try VaultFixture()
        let identity = try Identity.random()
        let vault = try fixture.create(with: .identity(identity))
        let real = try fixture.copy()
        try fixture.restore(try forge(fixture, for: identity))
        #expect(code { () throws(VaultError) in _ = try vault.activeKey() } == .replaced)
        #expect(code { () throws(VaultError) in _ = try fixture.open(with: .identity(identity)) } == .replaced)
        try fixture.restore(real)
        #expect(try fixture.open(with: .identity(identity)).activeKey().id == vault.keyring.active?.id)
    }

    @Test func aPersonMayContinueWithItAndTheOldNotesStay() throws {
        let fixture = try VaultFixture()
        let identity = try Identity.random()
        try fixture.create(with: .identity(identity))
        try fixture.restore(try forge(fixture, for: identity))
        #expect(code { () throws(VaultError) in _ = try fixture.open(with: .identity(identity)) } == .replaced)
        try fixture.accept(.identity(identity))
        #expect(throws: Never.self) { try fixture.open(with: .identity(identity)) }
    }

    @Test func anotherFingerprintThanTheOneThatWasComparedIsNotAccepted() throws {
        let fixture = try VaultFixture()
        let identity = try Identity.random()
        let vault = try fixture.create(with: .identity(identity))
        let fingerprint = try #require(vault.fingerprint)
        #expect(try Vault.preview(fixture.accessGroup, in: fixture.home).fingerprint == fingerprint)
        let forged = try forge(fixture, for: identity)
        try fixture.restore(forged)
        #expect(
            code { () throws(VaultError) in
                try Vault.accept(
                    fixture.accessGroup, in: fixture.home, with: .identity(identity), fingerprint: fingerprint)
            } == .replaced)
        #expect(try fixture.copy().files == forged.files)
    }

    @Test func onlyAVaultCanBeAccepted() throws {
        let fixture = try VaultFixture()
        let identity = try Identity.random()
        try fixture.create(with: .identity(identity))
        let real = try fixture.copy()
        var forged = try forge(fixture, for: identity)
        forged.files["vault.person"]?[3] ^= 1
        try fixture.restore(forged)
        #expect(code { () throws(VaultError) in try fixture.accept(.identity(identity)) } == .corrupt)
        // The memory of the real vault still exists.
        try fixture.restore(real)
        #expect(throws: Never.self) { try fixture.open(with: .identity(identity)) }
        #expect(try SystemFile.names(fixture.directory.path("Watermarks")).count == 1)
    }
}
