#if SQLite
import AppGroups
import ContainerAudit
import FoundationEssentials
import Glibc
import KeyVault
import SealedState
import Sealing
import Synchronization
import TestSupport
import Testing

@Suite struct DatabaseAuditTests {
    let sandbox: AuditSandbox
    let records: StoredRecords
    init() throws {
        sandbox = try AuditSandbox()
        records = try StoredRecords(in: .database, of: sandbox)
    }

    @Test func aContainerInUseIsClean() throws {
        try records.store.defaults().set(1, forKey: "key")
        let report = try sandbox.auditDatabase()
        #expect(report.ids == [] && report.isClean && report.withKeys && report.notes == [])
        let record = try #require(report.row("accounts/ada"))
        #expect(record.kind == .sealedRecord && record.verdict == .verified && record.mode == nil)
        #expect(record.record?.name == "accounts/ada" && record.record?.sequence == 1)
        #expect(record.size == Int64(try records.blob("accounts/ada").count))
        #expect(report.row("_sealed/defaults/\(sandbox.group)")?.verdict == .verified)
        #expect(report.file(AuditSandbox.marker)?.kind == .backendName)
        for end in ["", "-wal", "-shm"] {
            let file = try #require(report.file(AuditSandbox.database + end))
            #expect(file.kind == .sealedDatabase && !file.isPlaintext && file.storedSize == 0 && file.mode == 0o600)
        }
        #expect(try AuditReport(json: report.json()) == report)
    }

    @Test func withoutTheVaultEveryRecordIsListed() throws {
        try records.put("settings", Array(#"{"password":"vZ7qTnpL2xWfKd"}"#.utf8))
        let reports = [try sandbox.auditDatabase { $0.usesVault = false }, try sandbox.auditDatabaseByPath()]
        for report in reports {
            #expect(!report.withKeys)
            #expect(report.ids == ["blob.not-sealed", "field.password"])
            #expect(report.row("state")?.verdict == .unverified)
            #expect(report.row("state")?.record?.sequence == 2)
            #expect(report.row("settings")?.kind == .json)
        }
    }

    @Test func recordsNeedTheVaultThatIsMissing() throws {
        let other = try AuditSandbox(copying: sandbox)
        for path in [other.vault, other.keyFile] { try #require(unlink(path) == 0) }
        let report = try other.auditDatabase()
        #expect(report.row("state")?.verdict == .unverified)
        #expect(report.finding("vault.absent") != nil)
    }

    @Test func aRemedyNamesTheRecord() throws {
        try records.change("accounts/ada") { $0[180] ^= 1 }
        try records.put("settings", Array(#"{"password":"vZ7qTnpL2xWfKd"}"#.utf8))
        let report = try sandbox.auditDatabase()
        let command = "sealctl inspect --group \(sandbox.group) accounts/ada"
        #expect(report.finding("blob.tampered")?.remedy.hasSuffix(command) == true)
        #expect(report.findings.allSatisfy { !$0.remedy.contains("Records.sqlite") })
    }

    @Test func aFileOfARecordBesideTheDatabaseIsMisplaced() throws {
        try sandbox.put("\(AuditSandbox.records)/state.sealed", records.blob("state"))
        try sandbox.put("Library/Preferences/app.sealed", records.blob("state"))
        let report = try sandbox.auditDatabase()
        #expect(report.ids == ["blob.wrong-place", "blob.wrong-place"])
        #expect(report.verdict(ofRecord: "state") == .refused("wrongName"))
        #expect(report.row("state")?.verdict == .verified)
    }

    @Test func aRecordMovedIntoAFileIsNotMissing() throws {
        try sandbox.put("moved.sealed", records.blob("state"))
        try records.remove("state")
        #expect(try sandbox.auditDatabase().ids == ["blob.wrong-place"])
    }

    @Test func recordsBeyondTheLimitsAreReported() throws {
        let files = try sandbox.auditDatabase().files
        let index = try #require(files.firstIndex { $0.path == AuditSandbox.database })
        try #require(files[index + 1].path.hasPrefix(AuditSandbox.database + "/"))
        var listed: Set<Int> = []
        for maximum in 1...files.count {
            let report = try sandbox.auditDatabase { $0.limits.maximumEntries = maximum }
            listed.insert(report.files.count { $0.path.hasPrefix(AuditSandbox.database + "/") })
            // Entered directories are entries as well.
            #expect(report.ids == ["file.unexamined"] || report.files == files)
        }
        #expect(listed.isSuperset(of: [0, 1, 2]))
        let report = try sandbox.auditDatabase { $0.limits.maximumSealedBytes = 10 }
        #expect(report.row("state")?.kind == .unreadable)
        #expect(Set(report.ids) == ["file.unexamined"])
    }

    @Test func moreThanAPageOfRecordsIsListed() throws {
        let stream = try records.store.seal("x", as: "", kind: .stream, sequence: 0)
        for number in 0..<2001 { try records.put("n/\(number)", stream) }
        let total = Mutex(0)
        let report = try sandbox.auditDatabase { options in
            options.usesVault = false
            options.progress = { progress in total.withLock { $0 = progress.totalFiles ?? $0 } }
        }
        #expect(report.files.count { $0.path.hasPrefix(AuditSandbox.database + "/n/") } == 2001)
        #expect(report.findings.count == 2001)
        #expect(total.withLock { $0 } >= report.files.count)
    }

    @Test func aFindingOfARecordCanBeIgnored() throws {
        try records.change("state") { $0[180] ^= 1 }
        let key = FingerprintKey()
        let found = try sandbox.auditDatabase { $0.fingerprintKey = key }
        var list = AuditIgnoreList()
        list.add(found.findings, reason: "known", key: key)
        let report = try sandbox.auditDatabase { [list] in
            $0.fingerprintKey = key
            $0.ignoring = list
        }
        #expect(found.ids == ["blob.tampered"] && report.ids == [] && report.omissions.ignored == 1)
    }

    @Test func anAuditChangesNoRecord() throws {
        let names = ["state", "accounts/ada"]
        let before = try names.map(records.blob)
        try records.put("old", records.blob("state"))
        _ = try sandbox.auditDatabase()
        #expect(try names.map(records.blob) == before)
        #expect(try records.store.read(Token.self).text == "second")
    }

    @Test func aLockedRecordIsUnverifiedAndADowngradedOneIsRefused() throws {
        let sandbox = try AuditSandbox()
        let identity = try Identity.random()
        _ = try Vault.create(
            AccessGroup(sandbox.group), in: sandbox.home, slots: [.recipient(identity.recipient), .defaultKeyFile],
            openingWith: .identity(identity))
        let person = try sandbox.databaseStore(unlockingWith: .identity(identity))
        try person.write(Guarded(number: 1))
        try person.write(Token(text: "open"))
        let report = try sandbox.auditDatabase()
        #expect(report.ids == [] && report.notes.count == 1)
        #expect(report.row("guarded")?.verdict == .unverified && report.row("state")?.verdict == .verified)
        #expect(try sandbox.auditDatabase(credential: .identity(identity)).row("guarded")?.verdict == .verified)

        let records = try StoredRecords(in: .database, of: sandbox)
        try records.put("guarded", sandbox.databaseStore().seal("planted", as: "guarded", sequence: 5))
        let other = try sandbox.auditDatabase()
        #expect(other.ids == ["blob.downgraded"])
        #expect(other.row("guarded")?.verdict == .refused("downgraded"))
    }

    private struct Guarded: SealedRecord {
        static let recordName = "guarded"
        static let schemaVersion = 1
        static let protection = RecordProtection.whenUnlocked
        var number: Int
    }
}
#endif
