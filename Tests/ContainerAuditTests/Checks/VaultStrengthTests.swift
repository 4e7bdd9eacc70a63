import AppGroups
import ContainerAudit
import FoundationEssentials
import KeyVault
import SealedState
import TestSupport
import Testing

@Suite struct VaultStrengthTests {
    private let sandbox: AuditSandbox
    private let passphrase: Passphrase

    init() throws {
        sandbox = try AuditSandbox()
        passphrase = try Array("correct horse".utf8).withUnsafeBytes { try Passphrase(copying: $0) }
    }

    private func makeVault(_ costs: PassphraseCosts) throws {
        _ = try Vault.create(
            AccessGroup(sandbox.group), in: sandbox.home, slots: [.passphrase(passphrase, costs), .defaultKeyFile],
            openingWith: .passphrase(passphrase))
        _ = try sandbox.store()
    }

    @Test(arguments: [(1, 8 << 10), (1, 19 << 10), (2, 18 << 10), (4, 8 << 10)] as [(UInt32, UInt32)])
    func aPassphraseBelowTheFloorIsFound(passes: UInt32, memory: UInt32) throws {
        try makeVault(.readable(passes: passes, memoryKiB: memory))
        let report = try sandbox.audit()
        #expect(report.ids == ["vault.weak-passphrase-costs"])
        #expect(report.findings.first?.path == sandbox.vault)
        let command = "sealctl vault slot change --unlock-time 1s --group \(sandbox.group) 1"
        #expect(report.findings.first?.remedy.hasSuffix(command) == true)
    }

    @Test(
        arguments: [(2, 19 << 10), (1, 46 << 10), (3, 12 << 10), (5, 8 << 10), (3, 64 << 10)] as [(UInt32, UInt32)])
    func aPassphraseAtTheFloorIsNot(passes: UInt32, memory: UInt32) throws {
        try makeVault(.readable(passes: passes, memoryKiB: memory))
        #expect(try sandbox.audit().ids == [])
    }

    @Test func weakCostsOfALockedVaultAreReported() throws {
        _ = try Vault.create(
            AccessGroup(sandbox.group), in: sandbox.home,
            slots: [.passphrase(passphrase, .readable(passes: 1, memoryKiB: 8 << 10))],
            openingWith: .passphrase(passphrase))
        _ = try SealedStore(group: sandbox.group, in: sandbox.home, unlockingWith: .passphrase(passphrase))
        let wrong = try Array("x".utf8).withUnsafeBytes { try Passphrase(copying: $0) }
        _ = wrong
        let report = try ContainerAuditor().audit(group: sandbox.group, in: sandbox.home)
        #expect(report.ids == ["vault.weak-passphrase-costs"])
    }

    @Test func aKeyOfMoreThanAYearIsOld() throws {
        try sandbox.filled()
        #expect(try !sandbox.audit(now: Date() + 364 * 86400).ids.contains("vault.key-old"))
        let report = try sandbox.audit(now: Date() + 366 * 86400)
        #expect(report.finding("vault.key-old")?.severity == .low)
    }

    @Test func howOldAKeyMayBeIsALimit() throws {
        try sandbox.filled()
        var limits = AuditLimits()
        limits.maximumKeyAge = .seconds(30 * 86400)
        #expect(try !sandbox.audit(limits: limits, now: Date() + 29 * 86400).ids.contains("vault.key-old"))
        #expect(try sandbox.audit(limits: limits, now: Date() + 31 * 86400).ids.contains("vault.key-old"))
    }

    @Test func aRotationLeavesAKeyThatNothingNeeds() throws {
        let store = try sandbox.filled()
        #expect(try sandbox.audit().ids == [])
        try store.rotate()
        let report = try sandbox.audit()
        #expect(report.ids == ["vault.key-unused"])
        #expect(report.isClean)
        let old = try #require(try store.rotationStatus().keys.first { $0.state == .decryptOnly })
        #expect(report.findings.first?.detail.contains(old.id) == true)
        let command = "sealctl vault destroy-key --group \(sandbox.group) \(old.id)"
        #expect(report.findings.first?.remedy.hasSuffix(command) == true)
        try store.destroyKey(old.id)
        #expect(try sandbox.audit().ids == [])
    }

    @Test func aRotationThatBeganLongAgoIsFound() throws {
        let store = try sandbox.filled()
        _ = try store.vault.beginRotation(of: .afterFirstUnlock)
        #expect(try sandbox.audit().ids == [])
        #expect(try sandbox.audit(now: Date() + 2 * 86400).ids == ["vault.rotation-unfinished"])
    }

    @Test func aBlobOfARetiredEpochIsRefused() throws {
        let store = try sandbox.filled()
        let old = try SystemFile.read(sandbox.path(ofRecord: "state"))
        try store.rotate()
        // No process has accepted this state: only the epoch is evidence against it.
        let other = try AuditSandbox(copying: sandbox)
        try SystemFile.write(other.path(ofRecord: "state"), old)
        for name in try SystemFile.names(other.directory.path("home/Watermarks")) {
            try SystemFile.write(other.directory.path("home/Watermarks/\(name)"), [])
        }
        let report = try other.audit()
        #expect(report.ids.contains("blob.retired-key"))
        #expect(report.verdict(ofRecord: "state") == .refused("retiredEpoch"))
    }
}
