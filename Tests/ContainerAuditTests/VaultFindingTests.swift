import ContainerAudit
import Glibc
import KeyVault
import SealedState
import TestSupport
import Testing

@Suite struct VaultFindingTests {
    let yard: AuditYard
    init() throws {
        yard = try AuditYard()
        try yard.filled()
    }

    private static let passphrase = Array("correct horse".utf8)

    private func expectWithoutKeys(_ report: AuditReport, _ ids: [String]) {
        #expect(report.ids == ids)
        #expect(!report.withKeys)
        #expect(report.notes.count == 1)
        #expect(report.notes.first?.hasPrefix("\(yard.group): blobs were not opened: ") == true)
        #expect(report.verdict(ofRecord: "state") == .unverified)
    }

    @Test func aMissingKeyFileIsFound() throws {
        try #require(unlink(yard.keyFile) == 0)
        let report = try yard.audit()
        expectWithoutKeys(report, ["keyfile.absent"])
        #expect(report.finding("keyfile.absent")?.path == yard.keyFile)
    }

    @Test func aLockedVaultIsNoFaultAndIsSaid() throws {
        let yard = try AuditYard()
        let passphrase = try Self.passphrase.withUnsafeBytes { try Passphrase(copying: $0) }
        try SealedStore(group: yard.group, in: yard.home, unlockingWith: .passphrase(passphrase))
            .write(Token(text: "closed"))
        let report = try yard.audit(credential: .automatic)
        #expect(report.ids == [] && !report.withKeys && report.notes.count == 1)
        #expect(report.verdict(ofRecord: "state") == .unverified)
    }

    @Test func aPassphraseThatWasGivenForAVaultWithoutOneIsAnError() throws {
        let passphrase = try Self.passphrase.withUnsafeBytes { try Passphrase(copying: $0) }
        #expect(throwingCode { try yard.audit(credential: .passphrase(passphrase)) } == .wrongPassphrase)
    }

    /// Removes the memory of this user's programs of the vaults that they have opened.
    private func forgetPlaces() throws {
        let places = yard.directory.path("home/Places")
        for name in try SystemFile.names(places) { try #require(unlink("\(places)/\(name)") == 0) }
    }

    @Test func aVaultThatIsGoneIsAFaultWhereItWasOpenedBefore() throws {
        try #require(unlink(yard.vault) == 0)
        let report = try yard.audit()
        expectWithoutKeys(report, ["vault.absent"])
        #expect(report.finding("vault.absent")?.path == yard.vault)
        for name in ["state", "accounts/ada"] { try #require(unlink(yard.path(ofRecord: name)) == 0) }
        #expect(try yard.audit().ids == ["vault.absent"])
        #expect(!SystemFile.exists(yard.vault))
    }

    @Test func aMissingVaultIsAFaultToOthersOnlyWhereBlobsNeedIt() throws {
        try #require(unlink(yard.vault) == 0)
        try forgetPlaces()
        let report = try yard.audit()
        expectWithoutKeys(report, ["vault.absent"])
        #expect(report.finding("vault.absent")?.path == yard.vault)
        for name in ["state", "accounts/ada"] { try #require(unlink(yard.path(ofRecord: name)) == 0) }
        #expect(try yard.audit().ids == [])
        #expect(!SystemFile.exists(yard.vault))
    }

    @Test func aDamagedVaultIsCritical() throws {
        try yard.change(yard.vault) { $0[$0.count - 1] ^= 1 }
        let before = try SystemFile.read(yard.vault)
        expectWithoutKeys(try yard.audit(), ["vault.corrupt"])
        #expect(try SystemFile.read(yard.vault) == before)
    }

    @Test func aVaultOfAnotherGroupIsFound() throws {
        let other = try AppGroup("group.com.example.other")
        _ = try SealedStore(group: other, in: yard.home)
        try SystemFile.write(yard.vault, try SystemFile.read(yard.directory.path("home/Vaults/\(other)/vault")))
        try SystemFile.write(yard.keyFile, try SystemFile.read(yard.directory.path("home/Keys/\(other).key")))
        // Not the vault that was here before.
        expectWithoutKeys(try yard.audit(), ["vault.refused"])
        try forgetPlaces()
        expectWithoutKeys(try yard.audit(), ["vault.wrong-group"])
    }

    @Test func aKeyFileThatDoesNotBelongIsFound() throws {
        let other = try AppGroup("group.com.example.other")
        _ = try SealedStore(group: other, in: yard.home)
        let key = yard.directory.path("home/Keys/\(other).key")
        try SystemFile.write(yard.keyFile, try SystemFile.read(key))
        expectWithoutKeys(try yard.audit(), ["vault.wrong-key-file"])
        #expect(throwingCode { try yard.audit(credential: .keyFile(path: key)) } == .wrongKeyFile)
    }

    @Test func aDamagedKeyFileIsFound() throws {
        try yard.change(yard.keyFile) { $0[20] = UInt8(ascii: "z") }
        expectWithoutKeys(try yard.audit(), ["keyfile.damaged"])
    }

    @Test func aVaultThatOthersReachIsFound() throws {
        try #require(chmod(yard.vault, 0o644) == 0)
        expectWithoutKeys(try yard.audit(), ["vault.mode"])
        try #require(chmod(yard.vault, 0o600) == 0)
        try #require(chmod(yard.directory.path("home/Vaults/\(yard.group)"), 0o770) == 0)
        expectWithoutKeys(try yard.audit(), ["vault.mode"])
    }

    @Test func aKeyFileThatOthersReachIsFound() throws {
        try #require(chmod(yard.keyFile, 0o640) == 0)
        let report = try yard.audit()
        expectWithoutKeys(report, ["keyfile.mode"])
        #expect(report.finding("keyfile.mode")?.remedy == "chmod go-rwx \(yard.keyFile)")
    }

    @Test func aWrongPassphraseThatWasGivenIsAnError() throws {
        let yard = try AuditYard()
        let passphrase = try Self.passphrase.withUnsafeBytes { try Passphrase(copying: $0) }
        _ = try SealedStore(group: yard.group, in: yard.home, unlockingWith: .passphrase(passphrase))
        #expect(try yard.audit(credential: .passphrase(passphrase)).withKeys)
        let wrong = try Array("wrong".utf8).withUnsafeBytes { try Passphrase(copying: $0) }
        #expect(throwingCode { try yard.audit(credential: .passphrase(wrong)) } == .wrongPassphrase)
    }
}

/// Returns the code that an audit fails with, or `nil` if it gives a report.
func throwingCode(_ body: () throws -> AuditReport) -> AuditError.Code? {
    do {
        _ = try body()
        return nil
    } catch {
        return (error as? AuditError)?.code
    }
}
