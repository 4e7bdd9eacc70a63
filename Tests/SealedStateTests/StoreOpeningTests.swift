import Glibc
import SealedState
import TestSupport
import Testing

/// Tests of opening: locked, absent, corrupt and wrong are four errors, and none of them makes a new key.
@Suite struct StoreOpeningTests {
    let fixture: StoreFixture

    init() throws {
        fixture = try StoreFixture()
        try fixture.open().write(Note(text: "x"))
    }

    private var refused: StoreError.Code? { code { _ = try fixture.open() } }

    /// Expects that opening is refused and changes nothing.
    private func expectRefused(_ expected: StoreError.Code) throws {
        let before = try fixture.files().map { ($0, try SystemFile.read(fixture.place.path($0))) }
        #expect(refused == expected)
        let after = try fixture.files().map { ($0, try SystemFile.read(fixture.place.path($0))) }
        let news = after.filter { new in !before.contains { $0 == new } }
        // Lock files may be created, and the access log notes the attempt.
        let notes = ["/.lock", "/.access.lock", "/access.log"]
        #expect(after.count >= before.count && news.allSatisfy { new in notes.contains { new.0.hasSuffix($0) } })
    }

    @Test func withoutItsKeyFileTheVaultIsLocked() throws {
        unlink(fixture.keyFile)
        try expectRefused(.locked)
        #expect(!SystemFile.exists(fixture.keyFile))
    }

    @Test func anotherKeyFileIsWrong() throws {
        let other = try StoreFixture()
        _ = try other.open()
        try SystemFile.write(fixture.keyFile, try SystemFile.read(other.keyFile))
        try expectRefused(.wrongKeyFile)
    }

    @Test func aDamagedVaultIsCorrupt() throws {
        var vault = try SystemFile.read(fixture.vault)
        vault[20] ^= 1
        try SystemFile.write(fixture.vault, vault)
        try expectRefused(.vaultCorrupt)
    }

    @Test func aPassphraseOpensNoVaultWithoutASlotForIt() throws {
        let passphrase = try Array("words".utf8).withUnsafeBytes { try Passphrase(copying: $0) }
        let opened = code {
            _ = try SealedStore(group: fixture.group, in: fixture.home, unlockingWith: .passphrase(passphrase))
        }
        #expect(opened == .wrongPassphrase)
    }

    /// Removes the vault for a user who has never opened it.
    private func removeVaultUnseen() throws {
        unlink(fixture.vault)
        try FileTree.remove(fixture.place.path("Places"))
    }

    @Test func aVaultThatWasOpenedBeforeIsMissingWithOrWithoutBlobs() throws {
        unlink(fixture.vault)
        try expectRefused(.vaultMissing)
        unlink(fixture.file("note"))
        #expect(refused == .vaultMissing)
        #expect(code { _ = try fixture.open(creating: false) } == .vaultMissing)
        #expect(!SystemFile.exists(fixture.vault))
    }

    @Test func withoutAVaultThereIsNoNewKeyWhileBlobsExist() throws {
        try removeVaultUnseen()
        try expectRefused(.orphanedBlobs)
        #expect(!SystemFile.exists(fixture.vault))
        unlink(fixture.file("note"))
        #expect(refused == nil)
    }

    @Test(arguments: [(Field.format, UInt8(3)), (Field.flags, UInt8(0x80))])
    func aBlobOfANewerVersionCountsAsWell(_ change: (offset: Int, mask: UInt8)) throws {
        var blob = try fixture.blob()
        blob[change.offset] ^= change.mask
        try fixture.plant(blob)
        try removeVaultUnseen()
        try expectRefused(.orphanedBlobs)
    }

    @Test func filesThatOnlyLookLikeBlobsDoNotCount() throws {
        try removeVaultUnseen()
        try fixture.plant(Array("SEALS are mammals".utf8) + [UInt8](repeating: 0x20, count: 500))
        #expect(refused == nil)
    }

    @Test func withoutCreationNothingIsMade() throws {
        let fresh = try StoreFixture()
        #expect(code { _ = try fresh.open(creating: false) } == .containerMissing)
        #expect(try SystemFile.names(fresh.place.path) == [])
        try removeVaultUnseen()
        #expect(code { _ = try fixture.open(creating: false) } == .vaultAbsent)
        #expect(!SystemFile.exists(fixture.vault))
    }

    @Test func aContainerThatOthersMayWriteIsRefusedWithTheCommandThatRepairsIt() throws {
        chmod(fixture.container, 0o777)
        let error = try #require(refusal { _ = try fixture.open() })
        #expect(error.code == .container)
        #expect(error.advice.contains("chmod go-w"))
        chmod(fixture.container, 0o700)
        #expect(refused == nil)
    }

    @Test func everyCodeSaysWhatToDo() throws {
        unlink(fixture.keyFile)
        let error = try #require(refusal { _ = try fixture.open() })
        #expect(error.description.hasSuffix(error.advice))
        // Once is enough: the reason of a lower layer does not repeat it.
        #expect(!error.reason.contains(error.advice))
    }

    @Test func aTaskOpensTheSameStore() async throws {
        let store = try await SealedStore.open(group: fixture.group, in: fixture.home)
        #expect(try store.read(Note.self).text == "x")
    }
}
