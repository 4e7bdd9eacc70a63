import AppGroups
import ContainerAudit
import FoundationEssentials
import Glibc
import KeyVault
import SealedState
import Sealing
import TestSupport
import Testing

/// Tests of blobs of the class *when unlocked* in an audit: locked is a state, not a fault.
@Suite struct ProtectedBlobTests {
    private struct Guarded: SealedRecord {
        static let recordName = "guarded"
        static let schemaVersion = 1
        static let protection = RecordProtection.whenUnlocked
        var number: Int
    }

    private let sandbox: AuditSandbox
    private let identity: Identity

    init() throws {
        sandbox = try AuditSandbox()
        identity = try .random()
        _ = try Vault.create(
            AccessGroup(sandbox.group), in: sandbox.home, slots: [.recipient(identity.recipient), .defaultKeyFile],
            openingWith: .identity(identity))
        let store = try SealedStore(group: sandbox.group, in: sandbox.home, unlockingWith: .identity(identity))
        try store.write(Guarded(number: 1))
        try store.write(Token(text: "open"))
    }

    @Test func aLockedBlobIsUnverifiedAndNoFault() throws {
        let report = try sandbox.audit()
        #expect(report.verdict(ofRecord: "guarded") == .unverified)
        #expect(report.verdict(ofRecord: "state") == .verified)
        #expect(report.ids == [])
        #expect(report.notes.count == 1)
    }

    @Test func aPersonsCredentialOpensIt() throws {
        let report = try sandbox.audit(credential: .identity(identity))
        #expect(report.verdict(ofRecord: "guarded") == .verified)
        #expect(report.ids == [] && report.notes == [])
    }

    /// Each class has its own epochs: the key of the locked class is not an older key of the other.
    @Test func aRotationOfTheOtherClassMakesNoKeyOfThisOneUnused() throws {
        let person = try SealedStore(group: sandbox.group, in: sandbox.home, unlockingWith: .identity(identity))
        _ = try person.vault.beginRotation(of: .whenUnlocked)
        let service = try SealedStore(group: sandbox.group, in: sandbox.home)
        for _ in 0..<2 { try service.rotate() }
        try #require(unlink(sandbox.path(ofRecord: "guarded")) == 0)
        let finding = try #require(try sandbox.audit().finding("vault.key-unused"))
        let locked = try person.vault.keySummaries().filter { $0.protection == .whenUnlocked }
        #expect(locked.count == 2 && locked.allSatisfy { !finding.detail.contains($0.id.description) })
    }

    @Test func aRotationOfTheLockedClassThatBeganLongAgoIsFound() throws {
        let person = try SealedStore(group: sandbox.group, in: sandbox.home, unlockingWith: .identity(identity))
        _ = try person.vault.beginRotation(of: .whenUnlocked)
        #expect(try sandbox.audit().ids == [])
        #expect(try sandbox.audit(now: Date() + 2 * 86400).ids == ["vault.rotation-unfinished"])
    }

    @Test(arguments: [(70, "wrongCommitment"), (180, "tampered")])
    func damageShowsToWhoCanOpenIt(offset: Int, code: String) throws {
        try sandbox.change(sandbox.path(ofRecord: "guarded")) { $0[offset] ^= 1 }
        #expect(try sandbox.audit().verdict(ofRecord: "guarded") == .unverified)
        let report = try sandbox.audit(credential: .identity(identity))
        #expect(report.verdict(ofRecord: "guarded") == .refused(code))
    }

    /// A service has sealed it under its own key, in the place of a record that needs a person's key.
    @Test func aDowngradedBlobIsRefused() throws {
        let blob = try SealedStore(group: sandbox.group, in: sandbox.home, creating: false)
            .seal("planted", as: "guarded", sequence: 5)
        try SystemFile.write(sandbox.path(ofRecord: "guarded"), blob)
        for credential in [VaultCredential.defaultKeyFile, .identity(identity)] {
            let report = try sandbox.audit(credential: credential)
            #expect(report.verdict(ofRecord: "guarded") == .refused("downgraded"))
            #expect(report.ids == ["blob.downgraded"])
        }
    }

    @Test func aLockedBlobInAnotherPlaceIsStillMisplaced() throws {
        try sandbox.put("\(AuditSandbox.records)/moved.sealed", SystemFile.read(sandbox.path(ofRecord: "guarded")))
        #expect(try sandbox.audit().verdict(ofRecord: "moved") == .refused("wrongName"))
    }
}
