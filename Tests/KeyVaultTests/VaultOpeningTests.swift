import AppGroups
import Glibc
import KeyVault
import Sealing
import TestSupport
import Testing

@Suite struct VaultOpeningTests {
    @Test func anAbsentVaultIsAbsentAndOpeningMakesNothing() throws {
        let fixture = try VaultFixture()
        #expect(code { () throws(VaultError) in _ = try fixture.open() } == .absent)
        #expect(access(fixture.directory.path("Vaults"), F_OK) != 0)
        #expect(access(fixture.directory.path("Keys"), F_OK) != 0)
    }

    @Test func theKeyIsTheSameAtEveryOpening() throws {
        let fixture = try VaultFixture()
        let original = try fixture.openOrCreate().activeKey().id.description
        #expect(try fixture.keyID() == original)
        #expect(try fixture.openOrCreate().activeKey().id.description == original)
    }

    @Test func aPassphraseOpensAndAWrongOneIsWrong() throws {
        let fixture = try VaultFixture()
        let original = try fixture.create(with: passphrase("correct horse")).activeKey().id.description
        #expect(try fixture.keyID(with: passphrase("correct horse")) == original)
        let wrong = try passphrase("incorrect horse")
        #expect(code { () throws(VaultError) in _ = try fixture.open(with: wrong) } == .wrongPassphrase)
    }

    @Test func aVaultOfPersonsIsLockedForAKeyFileAndStaysAsItIs() throws {
        let fixture = try VaultFixture()
        try fixture.create(with: passphrase("correct horse"))
        let before = try SystemFile.read(fixture.path)
        #expect(code { () throws(VaultError) in _ = try fixture.open() } == .locked)
        #expect(code { () throws(VaultError) in _ = try fixture.openOrCreate() } == .locked)
        #expect(try SystemFile.read(fixture.path) == before)
        #expect(access(fixture.keyFile, F_OK) != 0)
    }

    @Test func aMissingKeyFileIsLockedAndNotMadeAgain() throws {
        let fixture = try VaultFixture()
        let original = try fixture.openOrCreate().activeKey().id.description
        let before = try SystemFile.read(fixture.path)
        let key = try SystemFile.read(fixture.keyFile)
        unlink(fixture.keyFile)
        #expect(code { () throws(VaultError) in _ = try fixture.openOrCreate() } == .locked)
        #expect(access(fixture.keyFile, F_OK) != 0)
        #expect(try SystemFile.read(fixture.path) == before)
        try SystemFile.write(fixture.keyFile, key)
        chmod(fixture.keyFile, 0o600)
        #expect(try fixture.keyID() == original)
    }

    @Test func anotherKeyFileIsWrong() throws {
        let fixture = try VaultFixture()
        let other = try VaultFixture("group.com.example.other")
        try fixture.create()
        try other.create()
        let credential = VaultCredential.keyFile(path: other.keyFile)
        #expect(code { () throws(VaultError) in _ = try fixture.open(with: credential) } == .wrongKeyFile)
    }

    @Test(arguments: ["", "sealed-key-1 ", "sealed-key-2 00", "sealed-key-1 zz", String(repeating: "x", count: 500)])
    func aDamagedKeyFileIsMalformed(text: String) throws {
        let fixture = try VaultFixture()
        try fixture.create()
        try SystemFile.write(fixture.keyFile, Array(text.utf8))
        #expect(code { () throws(VaultError) in _ = try fixture.openOrCreate() } == .malformedKeyFile)
        #expect(try SystemFile.read(fixture.keyFile) == Array(text.utf8))
    }

    @Test(arguments: [0o644, 0o660, 0o604] as [mode_t])
    func aKeyFileThatOthersMayReadIsRefused(mode: mode_t) throws {
        let fixture = try VaultFixture()
        try fixture.create()
        chmod(fixture.keyFile, mode)
        #expect(code { () throws(VaultError) in _ = try fixture.open() } == .unsafeFile)
    }

    @Test(arguments: [0o620, 0o666, 0o604] as [mode_t])
    func aVaultThatOthersMayReachIsRefusedWithTheCommandThatRepairsIt(mode: mode_t) throws {
        let fixture = try VaultFixture()
        try fixture.create()
        chmod(fixture.path, mode)
        do throws(VaultError) {
            _ = try fixture.open()
            Issue.record("opened")
        } catch {
            #expect(error.code == .unsafeFile)
            #expect(error.advice.contains("chmod 600 "))
        }
    }

    @Test func aVaultDirectoryThatOthersMayWriteIsRefused() throws {
        let fixture = try VaultFixture()
        try fixture.create()
        chmod(fixture.directory.path("Vaults/\(fixture.accessGroup)"), 0o777)
        #expect(code { () throws(VaultError) in _ = try fixture.open() } == .unsafeFile)
    }

    @Test func aVaultOfAnotherGroupIsRefused() throws {
        let fixture = try VaultFixture()
        let other = try VaultFixture("group.com.example.other")
        try fixture.create(with: passphrase("one"))
        try other.create(with: passphrase("one"))
        try fixture.restore(other.copy())
        let credential = try passphrase("one")
        #expect(code { () throws(VaultError) in _ = try fixture.open(with: credential) } == .replaced)
        try fixture.forgetPlaces()
        #expect(code { () throws(VaultError) in _ = try fixture.open(with: credential) } == .wrongGroup)
    }

    @Test func creatingWhereThereIsAVaultIsRefused() throws {
        let fixture = try VaultFixture()
        try fixture.create()
        let before = try SystemFile.read(fixture.path)
        #expect(code { () throws(VaultError) in try fixture.create() } == .alreadyExists)
        #expect(try SystemFile.read(fixture.path) == before)
    }

    @Test func modesAreForTheOwnerOnly() throws {
        let fixture = try VaultFixture()
        let mask = umask(0)
        defer { umask(mask) }
        try fixture.create()
        #expect(try SystemFile.mode(fixture.path) == 0o600)
        #expect(try SystemFile.mode(fixture.keyFile) == 0o600)
        #expect(try SystemFile.mode(fixture.directory.path("Keys")) == 0o700)
        #expect(try SystemFile.mode(fixture.directory.path("Vaults/\(fixture.accessGroup)")) == 0o700)
    }
}
