import ContainerAudit
import Glibc
import KeyVault
import SealedState
import TestSupport
import Testing

@Suite struct VaultFindingTests {
    let sandbox: AuditSandbox
    init() throws {
        sandbox = try AuditSandbox()
        try sandbox.filled()
    }

    private static let passphrase = Array("correct horse".utf8)

    private func expectWithoutKeys(_ report: AuditReport, _ ids: [String]) {
        #expect(report.ids == ids)
        #expect(!report.withKeys)
        #expect(report.notes.count == 1)
        #expect(report.notes.first?.hasPrefix("\(sandbox.group): blobs were not opened: ") == true)
        #expect(report.verdict(ofRecord: "state") == .unverified)
    }

    @Test func aMissingKeyFileIsFound() throws {
        try #require(unlink(sandbox.keyFile) == 0)
        let report = try sandbox.audit()
        expectWithoutKeys(report, ["keyfile.absent"])
        #expect(report.finding("keyfile.absent")?.path == sandbox.keyFile)
    }

    @Test func aLockedVaultIsNotAFaultAndIsReported() throws {
        let sandbox = try AuditSandbox()
        let passphrase = try Self.passphrase.withUnsafeBytes { try Passphrase(copying: $0) }
        try SealedStore(group: sandbox.group, in: sandbox.home, unlockingWith: .passphrase(passphrase))
            .write(Token(text: "closed"))
        let report = try sandbox.audit(credential: .automatic)
        #expect(report.ids == [] && !report.withKeys && report.notes.count == 1)
        #expect(report.verdict(ofRecord: "state") == .unverified)
    }

    @Test func aPassphraseThatWasGivenForAVaultWithoutOneIsAnError() throws {
        let passphrase = try Self.passphrase.withUnsafeBytes { try Passphrase(copying: $0) }
        #expect(throwingCode { try sandbox.audit(credential: .passphrase(passphrase)) } == .wrongPassphrase)
    }

    /// Removes the memory of this user's programs of the vaults that they have opened.
    private func forgetPlaces() throws {
        let places = sandbox.directory.path("home/Places")
        for name in try SystemFile.names(places) { try #require(unlink("\(places)/\(name)") == 0) }
    }

    @Test func aVaultThatIsGoneIsAFaultWhereItWasOpenedBefore() throws {
        try #require(unlink(sandbox.vault) == 0)
        let report = try sandbox.audit()
        expectWithoutKeys(report, ["vault.absent"])
        #expect(report.finding("vault.absent")?.path == sandbox.vault)
        for name in ["state", "accounts/ada"] { try #require(unlink(sandbox.path(ofRecord: name)) == 0) }
        #expect(try sandbox.audit().ids == ["vault.absent"])
        #expect(!SystemFile.exists(sandbox.vault))
    }

    @Test func aMissingVaultIsAFaultToOthersOnlyWhereBlobsNeedIt() throws {
        try #require(unlink(sandbox.vault) == 0)
        try forgetPlaces()
        let report = try sandbox.audit()
        expectWithoutKeys(report, ["vault.absent"])
        #expect(report.finding("vault.absent")?.path == sandbox.vault)
        for name in ["state", "accounts/ada"] { try #require(unlink(sandbox.path(ofRecord: name)) == 0) }
        #expect(try sandbox.audit().ids == [])
        #expect(!SystemFile.exists(sandbox.vault))
    }

    @Test func aDamagedVaultIsCritical() throws {
        try sandbox.change(sandbox.vault) { $0[$0.count - 1] ^= 1 }
        let before = try SystemFile.read(sandbox.vault)
        expectWithoutKeys(try sandbox.audit(), ["vault.corrupt"])
        #expect(try SystemFile.read(sandbox.vault) == before)
    }

    @Test func aVaultOfAnotherGroupIsFound() throws {
        let other = try AppGroup("group.com.example.other")
        _ = try SealedStore(group: other, in: sandbox.home)
        try SystemFile.write(sandbox.vault, try SystemFile.read(sandbox.directory.path("home/Vaults/\(other)/vault")))
        try SystemFile.write(sandbox.keyFile, try SystemFile.read(sandbox.directory.path("home/Keys/\(other).key")))
        // Not the vault that was here before.
        expectWithoutKeys(try sandbox.audit(), ["vault.refused"])
        try forgetPlaces()
        expectWithoutKeys(try sandbox.audit(), ["vault.wrong-group"])
    }

    @Test func aKeyFileThatDoesNotBelongIsFound() throws {
        let other = try AppGroup("group.com.example.other")
        _ = try SealedStore(group: other, in: sandbox.home)
        let key = sandbox.directory.path("home/Keys/\(other).key")
        try SystemFile.write(sandbox.keyFile, try SystemFile.read(key))
        expectWithoutKeys(try sandbox.audit(), ["vault.wrong-key-file"])
        #expect(throwingCode { try sandbox.audit(credential: .keyFile(path: key)) } == .wrongKeyFile)
    }

    @Test func aDamagedKeyFileIsFound() throws {
        try sandbox.change(sandbox.keyFile) { $0[20] = UInt8(ascii: "z") }
        expectWithoutKeys(try sandbox.audit(), ["keyfile.damaged"])
    }

    @Test func aVaultThatOthersReachIsFound() throws {
        try #require(chmod(sandbox.vault, 0o644) == 0)
        expectWithoutKeys(try sandbox.audit(), ["vault.mode"])
        try #require(chmod(sandbox.vault, 0o600) == 0)
        try #require(chmod(sandbox.directory.path("home/Vaults/\(sandbox.group)"), 0o770) == 0)
        expectWithoutKeys(try sandbox.audit(), ["vault.mode"])
    }

    @Test func aKeyFileThatOthersReachIsFound() throws {
        try #require(chmod(sandbox.keyFile, 0o640) == 0)
        let report = try sandbox.audit()
        expectWithoutKeys(report, ["keyfile.mode"])
        #expect(report.finding("keyfile.mode")?.remedy == "chmod go-rwx \(sandbox.keyFile)")
    }

    @Test func aWrongPassphraseThatWasGivenIsAnError() throws {
        let sandbox = try AuditSandbox()
        let passphrase = try Self.passphrase.withUnsafeBytes { try Passphrase(copying: $0) }
        _ = try SealedStore(group: sandbox.group, in: sandbox.home, unlockingWith: .passphrase(passphrase))
        #expect(try sandbox.audit(credential: .passphrase(passphrase)).withKeys)
        let wrong = try Array("wrong".utf8).withUnsafeBytes { try Passphrase(copying: $0) }
        #expect(throwingCode { try sandbox.audit(credential: .passphrase(wrong)) } == .wrongPassphrase)
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
