import ContainerAudit
import FoundationEssentials
import SealedState
import TestSupport
import Testing

/// Blobs of the class *when unlocked* in an audit: out of reach is a state, and no fault.
@Suite struct ProtectedBlobTests {
    private struct Guarded: SealedRecord {
        static let recordName = "guarded"
        static let schemaVersion = 1
        static let protection = ProtectionClass.whenUnlocked
        var number: Int
    }

    private let yard: AuditYard
    private let identity: Identity

    init() throws {
        yard = try AuditYard()
        identity = try .random()
        _ = try Vault.create(
            AccessGroup(yard.group), in: yard.home, slots: [.recipient(identity.recipient), .defaultKeyFile],
            openingWith: .identity(identity))
        let store = try SealedStore(group: yard.group, in: yard.home, unlockingWith: .identity(identity))
        try store.write(Guarded(number: 1))
        try store.write(Token(text: "open"))
    }

    @Test func aLockedBlobIsUnverifiedAndNoFault() throws {
        let report = try yard.audit()
        #expect(report.verdict(ofRecord: "guarded") == .unverified)
        #expect(report.verdict(ofRecord: "state") == .verified)
        #expect(report.ids == [])
        #expect(report.notes.count == 1)
    }

    @Test func aPersonsCredentialOpensIt() throws {
        let report = try yard.audit(credential: .identity(identity))
        #expect(report.verdict(ofRecord: "guarded") == .verified)
        #expect(report.ids == [] && report.notes == [])
    }

    @Test(arguments: [(70, "wrongCommitment"), (180, "tampered")])
    func damageShowsToWhoCanOpenIt(offset: Int, code: String) throws {
        try yard.change(yard.path(ofRecord: "guarded")) { $0[offset] ^= 1 }
        #expect(try yard.audit().verdict(ofRecord: "guarded") == .unverified)
        let report = try yard.audit(credential: .identity(identity))
        #expect(report.verdict(ofRecord: "guarded") == .refused(code))
    }

    @Test func aLockedBlobInAnotherPlaceIsStillMisplaced() throws {
        try yard.put("\(AuditYard.records)/moved.sealed", SystemFile.read(yard.path(ofRecord: "guarded")))
        #expect(try yard.audit().verdict(ofRecord: "moved") == .refused("wrongName"))
    }
}
