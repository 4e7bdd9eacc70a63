import Glibc
import KeyVault
import Sealing
import TestSupport
import Testing

/// Tests that an open vault follows its file.
@Suite struct VaultFollowingTests {
    @Test func aChangeByAnotherProgramIsSeenAtTheNextUse() throws {
        let fixture = try VaultFixture()
        let reader = try fixture.create()
        let writer = try fixture.open()
        let epoch = try writer.beginRotation()
        #expect(epoch == 2)
        #expect(reader.keyring.active?.epoch == 1)
        #expect(try reader.activeKey().epoch == 2)
        #expect(reader.keyring.active?.epoch == 2)
    }

    @Test func aVaultThatIsRemovedWhileItIsOpenIsMissing() throws {
        let fixture = try VaultFixture()
        let vault = try fixture.create()
        unlink(fixture.path)
        #expect(code { () throws(VaultError) in _ = try vault.activeKey() } == .missing)
        #expect(access(fixture.path, F_OK) != 0)
    }

    @Test func anotherVaultInItsPlaceIsNotFollowed() throws {
        let fixture = try VaultFixture()
        let vault = try fixture.create()
        let id = try vault.activeKey().id
        unlink(fixture.path)
        try fixture.forgetPlaces()
        try fixture.create()
        #expect(code { () throws(VaultError) in _ = try vault.activeKey() } == .replaced)
        #expect(vault.keyring.active?.id == id)
    }

    @Test func aDamagedFileTakesNoKeyAwayFromWhoHasItOpen() throws {
        let fixture = try VaultFixture()
        let vault = try fixture.create()
        let id = try vault.activeKey().id
        try SystemFile.write(fixture.path, Array("SVLT".utf8))
        #expect(code { () throws(VaultError) in _ = try vault.activeKey() } == .corrupt)
        #expect(vault.recentKeyring().active?.id == id)
    }

    @Test func changesOfTwoProgramsAreBothKept() throws {
        let fixture = try VaultFixture()
        try fixture.create()
        let vaults = try (0..<8).map { _ in try fixture.open() }
        let results = try concurrently(8) { index in
            try vaults[index].addItem(
                service: "service", account: "account \(index)", value: UnsafeRawBufferPointer(start: nil, count: 0))
        }
        for result in results { try result.get() }
        #expect(try fixture.open().items().count == 8)
    }
}
