import CryptoPrimitives
import Glibc
import TestSupport
import Testing

@testable import KeyVault

/// Tests of the automatic credential of a vault, without a question.
@Suite struct AutomaticCredentialTests {
    private func name(_ fixture: VaultFixture) -> String { "sealedstate.\(fixture.accessGroup)" }

    private func refused(_ fixture: VaultFixture) -> VaultError.Code? {
        code { () throws(VaultError) in _ = try fixture.open(with: .automatic) }
    }

    @Test func theKeyFileComesFirst() throws {
        let fixture = try VaultFixture()
        try fixture.inUnit {
            try SystemFile.write(fixture.credential(name(fixture)), keyText())
            let vault = try fixture.create()
            try vault.addSlot(.systemdCredential(name: nil))
            #expect(try vault.slotID(openedBy: .automatic) == 1)
            unlink(fixture.keyFile)
            #expect(try vault.slotID(openedBy: .automatic) == 2)
        }
    }

    @Test func aVaultThatIsMadeInAUnitGetsItsCredential() throws {
        let fixture = try VaultFixture()
        try fixture.inUnit {
            try SystemFile.write(fixture.credential(name(fixture)), keyText(), mode: 0o400)
            let vault = try fixture.openOrCreate(with: .automatic)
            #expect(try vault.slots().map(\.kind) == [.credential])
            #expect(access(fixture.keyFile, F_OK) != 0)
            #expect(throws: Never.self) { try fixture.open(with: .automatic) }
        }
        // Without the unit nothing opens it.
        CredentialDirectory.$current.withValue(CredentialDirectory(path: nil)) {
            #expect(refused(fixture) == .locked)
            let credential = VaultCredential.systemdCredential(name: nil)
            #expect(code { () throws(VaultError) in _ = try fixture.open(with: credential) } == .noCredential)
        }
    }

    @Test func aVaultThatIsMadeElsewhereGetsTheKeyFile() throws {
        let fixture = try VaultFixture()
        try fixture.inUnit {
            let vault = try fixture.openOrCreate(with: .automatic)
            #expect(try vault.slots().map(\.kind) == [.keyFile])
        }
    }

    @Test func aKeyFileOfAnotherVaultDoesNotHideTheCredential() throws {
        let fixture = try VaultFixture()
        try fixture.inUnit {
            try SystemFile.write(fixture.credential(name(fixture)), keyText())
            let vault = try fixture.create()
            try vault.addSlot(.systemdCredential(name: nil))
            try SystemFile.write(fixture.keyFile, keyText())
            #expect(try vault.slotID(openedBy: .automatic) == 2)
            unlink(fixture.credential(name(fixture)))
            #expect(refused(fixture) == .wrongKeyFile)
        }
    }

    @Test func damageIsReportedNotWorkedAround() throws {
        let fixture = try VaultFixture()
        try fixture.inUnit {
            try SystemFile.write(fixture.credential(name(fixture)), keyText())
            try fixture.create().addSlot(.systemdCredential(name: nil))
            chmod(fixture.keyFile, 0o644)
            #expect(refused(fixture) == .unsafeFile)
            try SystemFile.write(fixture.keyFile, Array("sealed-key-1 zz".utf8))
            #expect(refused(fixture) == .malformedKeyFile)
        }
    }

    @Test(.enabled(if: MemoryDirectory.isAvailable)) func unlockedKeysAreTriedLast() throws {
        let fixture = try VaultFixture()
        let memory = try MemoryDirectory()
        try UnlockCaches.$current.withValue(.runtimeFile(below: memory.path)) {
            let vault = try fixture.create(with: passphrase("words"))
            #expect(refused(fixture) == .locked)
            try vault.unlock()
            #expect(throws: Never.self) { try fixture.open(with: .automatic) }
            #expect(try fixture.open(with: .unlocked).slotID(openedBy: .unlocked) == nil)
            try Vault.lock(fixture.accessGroup, in: fixture.home, everything: true)
            #expect(refused(fixture) == .locked)
            #expect(code { () throws(VaultError) in _ = try fixture.open(with: .unlocked) } == .locked)
        }
    }

    @Test func unlockedKeysMakeNoVault() throws {
        let fixture = try VaultFixture()
        #expect(code { () throws(VaultError) in _ = try fixture.openOrCreate(with: .unlocked) } == .invalidArgument)
        #expect(access(fixture.path, F_OK) != 0)
    }

    @Test func aLockedVaultNamesWhatOpensItAndTheKeyFileThatIsMissing() throws {
        let fixture = try VaultFixture()
        try fixture.create().addSlot(.passphrase(Passphrase("words"), .minimum))
        unlink(fixture.keyFile)
        do throws(VaultError) {
            _ = try fixture.open(with: .automatic)
            Issue.record("opened")
        } catch {
            #expect(error.code == .locked)
            #expect(error.subject == fixture.keyFile && error.reason.contains("passphrase or key file"))
        }
        #expect(access(fixture.keyFile, F_OK) != 0)
    }
}

/// Tests of credentials from the service manager.
@Suite struct CredentialDirectoryTests {
    private func failure(_ fixture: VaultFixture, _ name: String) throws -> VaultError.Code? {
        try fixture.inUnit {
            code { () throws(VaultError) in _ = try CredentialDirectory.current.read(name) }
        }
    }

    @Test(arguments: [0o400, 0o440, 0o600, 0o640] as [UInt32])
    func theUnitsUserMayHaveItsRightThroughTheGroup(mode: UInt32) throws {
        let fixture = try VaultFixture()
        try fixture.directory.directory("credentials")
        try SystemFile.write(fixture.credential("key"), keyText(), mode: mode)
        #expect(try failure(fixture, "key") == nil)
    }

    @Test(arguments: [0o444, 0o404, 0o460, 0o420, 0o402, 0o666] as [UInt32])
    func oneThatOthersMayReadOrTheGroupMayWriteIsRefused(mode: UInt32) throws {
        let fixture = try VaultFixture()
        try fixture.directory.directory("credentials")
        try SystemFile.write(fixture.credential("key"), keyText(), mode: mode)
        #expect(try failure(fixture, "key") == .unsafeFile)
    }

    @Test func oneThatIsMissingIsNotACredential() throws {
        let fixture = try VaultFixture()
        #expect(try failure(fixture, "key") == .noCredential)
    }

    @Test(arguments: ["", ".", "..", "a/b", "/etc/passwd", "../credentials/key"])
    func aNameThatIsAPathIsRefused(name: String) throws {
        #expect(try failure(VaultFixture(), name) == .invalidArgument)
    }

    @Test(arguments: ["", "sealed-key-1 ", "secret"])
    func oneThatIsNotAKeyIsMalformed(text: String) throws {
        let fixture = try VaultFixture()
        try fixture.directory.directory("credentials")
        try SystemFile.write(fixture.credential("key"), Array(text.utf8), mode: 0o400)
        #expect(try failure(fixture, "key") == .malformedKeyFile)
    }
}

/// Tests of key files for a new slot.
@Suite struct NewKeyFileSlotTests {
    private func failure(_ fixture: VaultFixture, _ path: String) -> VaultError.Code? {
        code { () throws(VaultError) in _ = try NewSlot.keyFile(path: path).maker(for: fixture.place) }
    }

    @Test func oneThatIsMissingIsAFileErrorAndNotMade() throws {
        let fixture = try VaultFixture()
        let path = fixture.directory.path("none.key")
        #expect(failure(fixture, path) == .file)
        #expect(access(path, F_OK) != 0)
    }

    @Test func aPipeIsRefusedWithoutWaitingForIt() throws {
        let fixture = try VaultFixture()
        try fixture.directory.fifo("pipe")
        let path = fixture.directory.path("pipe")
        let keeper = open(path, O_RDWR | O_CLOEXEC)
        defer { close(keeper) }
        #expect(failure(fixture, path) == .unsafeFile)
    }

    @Test func theDefaultOneIsMadeWithTheSlotAndNotBefore() throws {
        let fixture = try VaultFixture()
        let maker = try NewSlot.defaultKeyFile.maker(for: fixture.place)
        #expect(access(fixture.keyFile, F_OK) != 0)
        _ = try maker.prepare(vaultID: [UInt8](repeating: 0, count: 16))
        #expect(try SystemFile.mode(fixture.keyFile) == 0o600)
    }

    @Test func aDefaultOneThatIsDamagedIsReportedBeforeAnythingIsMade() throws {
        let fixture = try VaultFixture()
        try fixture.directory.directory("Keys")
        try SystemFile.write(fixture.keyFile, Array("sealed-key-1 zz".utf8))
        #expect(
            code { () throws(VaultError) in _ = try NewSlot.defaultKeyFile.maker(for: fixture.place) }
                == .malformedKeyFile)
    }
}
