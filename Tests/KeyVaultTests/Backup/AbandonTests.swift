import AppGroups
import Glibc
import Sealing
import SharedFiles
import TestSupport
import Testing

@testable import KeyVault

/// Tests of a new start: everything old is kept, and nothing old is accepted.
@Suite struct AbandonTests {
    private let fixture: VaultFixture
    private let record = "Library/Application Support/Records/deep/state.sealed"

    init() throws { fixture = try VaultFixture() }

    /// A group with a vault, a record and a stream.
    private func groupInUse() throws -> (vault: Vault, blob: SealedFile) {
        let vault = try fixture.create()
        _ = try vault.beginRotation()
        let blob = SealedFile(fixture, under: try vault.activeKey())
        try fixture.put(blob, record)
        try fixture.put(SealedFile(fixture, name: "stream", under: try vault.activeKey()), "top-level.sealed")
        return (vault, blob)
    }

    @Test func everythingOldIsKeptUnderItsOldPath() throws {
        let (_, blob) = try groupInUse()
        let (vault, log) = (try SystemFile.read(fixture.path), try SystemFile.read(fixture.beside("access.log")))
        let report = try fixture.abandon()
        #expect(report.setAside.map(\.from) == [fixture.path, fixture.beside("access.log")])
        #expect(try report.setAside.map { try SystemFile.read($0.to) } == [vault, log])
        #expect(report.setAside.allSatisfy { $0.to.contains(".abandoned-") && $0.to.hasSuffix("Z") })
        #expect(report.quarantined.count == 2)
        let moved = try #require(report.quarantined.first { $0.from.hasSuffix(record) })
        #expect(moved.to.contains("/Quarantine/abandoned-") && moved.to.hasSuffix("Z/\(record)"))
        #expect(try SystemFile.read(moved.to) == blob.bytes)
        #expect(!fixture.isInContainer(record) && !fixture.isInContainer("top-level.sealed"))
    }

    @Test func theNewVaultStartsBeyondTheOldEpochsAndRefusesOldBlobs() throws {
        let (_, blob) = try groupInUse()
        let report = try fixture.abandon()
        #expect(report.epoch == 3)
        let vault = try fixture.open()
        #expect(try vault.activeKey().epoch == 3)
        #expect(try vault.items().isEmpty)
        #expect(blob.isRefused(by: vault.keyring) == .unknownKey)
        let log = try vault.log.verify(noted: vault.current().service.state.logHead)
        #expect(log.badCount == 0)
    }

    @Test func theStoreWorksAfterwardsAndAnOldRecordPutBackIsRefused() throws {
        let arguments = [fixture.directory.path, fixture.group.identifier]
        func store(_ command: String, _ more: [String] = []) throws -> String {
            let child = try ChildProcess("sealed-probe", [command] + arguments + more)
            let answer = try child.readLine()
            _ = try child.finish()
            return answer ?? ""
        }
        #expect(try store("store-write", ["7", "10", "durable"]) == "written 1")
        let report = try fixture.abandon()
        #expect(try store("store-read") == "absent")
        #expect(try store("store-write", ["8", "10", "durable"]) == "written 1")
        #expect(try store("store-read") == "8 10 1")
        let old = try #require(report.quarantined.first)
        try SystemFile.write(old.from, try SystemFile.read(old.to))
        #expect(try store("store-read") == "unknownKey")
    }

    @Test(arguments: ["", "no vault", "SVLT"]) func aDamagedVaultIsKeptAsItIs(text: String) throws {
        try fixture.create()
        try SystemFile.write(fixture.path, Array(text.utf8))
        let report = try fixture.abandon()
        #expect(try SystemFile.read(try #require(report.setAside.first?.to)) == Array(text.utf8))
        #expect(throws: Never.self) { try fixture.open() }
    }

    @Test func aVaultThatIsGoneIsGivenUpAsWell() throws {
        let (_, blob) = try groupInUse()
        unlink(fixture.path)
        #expect(code { () throws(VaultError) in _ = try fixture.openOrCreate() } == .missing)
        try fixture.forgetPlaces()
        #expect(code { () throws(VaultError) in _ = try fixture.openOrCreate() } == .orphanedBlobs)
        let report = try fixture.abandon()
        #expect(report.setAside.map(\.from) == [fixture.beside("access.log")])
        #expect(report.quarantined.count == 2)
        #expect(blob.isRefused(by: try fixture.openOrCreate().keyring) == .unknownKey)
    }

    @Test func whereThereIsNothingAVaultIsMade() throws {
        let report = try fixture.abandon()
        #expect(report == AbandonReport(setAside: [], quarantined: [], epoch: 1))
        #expect(throws: Never.self) { try fixture.open() }
    }

    @Test func bothCompartmentsAndTheirValuesAreSetAside() throws {
        let identity = try Identity.random()
        let vault = try fixture.create(with: .identity(identity))
        for accessibility in [Accessibility.afterFirstUnlock, .whenUnlocked] {
            try vault.add("s", "\(accessibility)", accessibility, [UInt8](repeating: 1, count: 300))
        }
        let report = try fixture.abandon()
        let leaves = ["vault", "vault.person", "values", "values.person", "access.log"]
        #expect(report.setAside.map(\.from) == leaves.map(fixture.beside))
        let opened = try fixture.open()
        #expect(try opened.items().isEmpty)
        #expect(!SystemFile.exists(fixture.personPath))
        #expect(opened.vaultID != vault.vaultID)
    }

    @Test func othersFilesStayWhereTheyAre() throws {
        _ = try groupInUse()
        let stranger = SealedFile(try VaultFixture("group.com.example.other"), under: try .random(epoch: 9))
        try fixture.put(stranger, "Library/Caches/foreign.sealed")
        try SystemFile.write(try fixture.inContainer("Library/Caches/plain.txt"), [1])
        #expect(try fixture.abandon().epoch == 3)
        #expect(
            fixture.isInContainer("Library/Caches/foreign.sealed") && fixture.isInContainer("Library/Caches/plain.txt"))
    }

    @Test func aClaimThatNoGroupReachesIsNotBelieved() throws {
        let last = OrphanCheck.highestPlausibleEpoch
        try fixture.put(SealedFile(fixture, name: "a", under: try .random(epoch: .max)), "a.sealed")
        try fixture.put(SealedFile(fixture, name: "b", under: try .random(epoch: last + 1)), "b.sealed")
        try fixture.put(SealedFile(fixture, name: "c", under: try .random(epoch: 5)), "c.sealed")
        let report = try fixture.abandon()
        #expect(report.epoch == 6)
        #expect(report.quarantined.count == 3)
        try fixture.put(SealedFile(fixture, name: "d", under: try .random(epoch: last)), "d.sealed")
        #expect(try fixture.abandon().epoch == last + 1)
        // Half of the numbers are left, and periods have room for them.
        let vault = try fixture.open()
        #expect(vault.period == 1025)
        #expect(try vault.beginRotation() == last + 2)
    }

    /// A rebuilt vault continues beyond the bound of its former period, and the next vault has room for its keys.
    @Test func theKeysOfARebuiltVaultComeBackAfterANewStart() throws {
        let ada = try Identity.random()
        let person = try Vault.create(
            fixture.accessGroup, in: fixture.home, slots: [.recipient(ada.recipient), .defaultKeyFile],
            openingWith: .identity(ada))
        unlink(fixture.path)
        var options = RekeyOptions()
        options.rebuildsServices = true
        try person.rekey(options)
        let key = try fixture.open().activeKey()
        #expect(key.epoch == KeyringEntry.maximumEpoch(period: 1) + 1)
        let blob = SealedFile(fixture, under: key)
        try SystemFile.write(try fixture.inContainer(record), blob.bytes)
        let backup = fixture.directory.path("backup")
        _ = try person.export(to: backup, for: [.recipient(ada.recipient)])

        #expect(try fixture.abandon().epoch == key.epoch + 1)
        #expect(try fixture.open().period == 2)
        _ = try Vault.import(
            from: backup, opening: .identity(ada), fixture.accessGroup, in: fixture.home, with: .defaultKeyFile,
            importing: ImportOptions(contents: .keysOnly))
        #expect(try blob.opens(with: try fixture.open().keyring))
    }

    @Test func twiceInOneSecondOverwritesNothing() throws {
        _ = try groupInUse()
        var reports = [try fixture.abandon()]
        for _ in 0..<3 {
            try fixture.put(SealedFile(fixture, under: try fixture.open().activeKey()), record)
            reports.append(try fixture.abandon())
        }
        let paths = reports.flatMap { ($0.setAside + $0.quarantined).map(\.to) }
        #expect(Set(paths).count == paths.count)
        #expect(paths.allSatisfy { SystemFile.exists($0) })
        #expect(reports.map(\.epoch) == [3, 4, 5, 6])
    }

    @Test func obstaclesAreReportedBeforeAnyMove() throws {
        _ = try groupInUse()
        let before = try SystemFile.read(fixture.path)
        let missing = fixture.directory.path("missing.key")
        #expect(code { () throws(VaultError) in _ = try fixture.abandon([.keyFile(path: missing)]) } == .file)
        #expect(code { () throws(VaultError) in _ = try fixture.abandon([]) } == .invalidArgument)
        let unsearchable = try fixture.inContainer("Library/Caches/x")
        try SystemFile.write(unsearchable, [1])
        // A name that is not UTF-8 cannot be searched, so the contents are unknown.
        let name = Array(unsearchable.utf8.dropLast()).map { CChar(bitPattern: $0) } + [CChar(bitPattern: 0xFF), 0]
        rename(unsearchable, name)
        #expect(code { () throws(VaultError) in _ = try fixture.abandon() } == .file)
        unlink(name)
        #expect(try SystemFile.read(fixture.path) == before)
        #expect(fixture.isInContainer(record))
    }

    @Test func anInterruptionLeavesNoVaultAndEveryFile() throws {
        // The program was killed after the vault was set aside; then, after the blobs were moved as well.
        let (_, blob) = try groupInUse()
        let directory = try #require(try fixture.place.openDirectory())
        let vault = try SystemFile.read(fixture.path)
        var room = VaultAbandonment(in: fixture.place)
        try room.setAside(in: directory)
        #expect(code { () throws(VaultError) in _ = try fixture.open() } == .missing)
        #expect(code { () throws(VaultError) in _ = try fixture.openOrCreate() } == .missing)
        #expect(try SystemFile.read(room.files[0].to) == vault)
        try room.quarantineBlobs(try OrphanCheck(fixture.accessGroup, in: fixture.home))
        #expect(code { () throws(VaultError) in _ = try fixture.open() } == .missing)
        #expect(room.blobs.count == 2)
        // The next vault continues after the earlier epochs.
        let report = try fixture.abandon()
        #expect(report.epoch == 3)
        #expect(report.setAside.isEmpty && report.quarantined.isEmpty)
        // The abandoned files are restored under their old names.
        for moved in [room.files[0]] + room.blobs { rename(moved.to, moved.from) }
        #expect(try blob.opens(with: try fixture.open().keyring))
    }

    @Test func aFailureAfterTheMoveSaysWhereThingsAre() throws {
        _ = try groupInUse()
        var room = VaultAbandonment(in: fixture.place)
        let directory = try #require(try fixture.place.openDirectory())
        do throws(VaultError) {
            try room.naming { room throws(VaultError) in
                try room.setAside(in: directory)
                throw VaultError(FileError(.noSpace, operation: "write", path: fixture.path), "make the vault")
            }
            Issue.record("no error")
        } catch {
            #expect(error.code == .file)
            #expect(error.description.contains("vault.abandoned-"))
        }
    }

    @Test func abandoningDoesNotNeedACredentialOfTheNewVault() throws {
        _ = try groupInUse()
        let other = try Identity.random()
        _ = try fixture.abandon([.recipient(other.recipient)])
        // A recipient's holder accepts a vault that another person has created for them.
        #expect(code { () throws(VaultError) in _ = try fixture.open(with: .identity(other)) } == .notAccepted)
        let log = try fixture.accept(.identity(other)).log
        var events: [AccessEvent] = []
        _ = try log.read(noted: nil) { entry, isAuthentic in if isAuthentic { events.append(entry.event) } }
        #expect(events.prefix(2) == [.created, .abandoned])
        #expect(events.contains(.accepted))
    }

    @Test func programsThatStillHaveTheOldVaultOpenAreNotified() throws {
        let (old, _) = try groupInUse()
        _ = try fixture.abandon()
        #expect(code { () throws(VaultError) in _ = try old.activeKey() } == .replaced)
    }

    @Test func aWriterInTheMiddleOfARecordIsWaitedFor() throws {
        // writer:  takes the record's lock, gets the key ....................... would put its blob in place
        // here:    ...................................... abandons: refused, nothing was moved
        _ = try groupInUse()
        let before = try SystemFile.read(fixture.path)
        let container = try GroupContainer.open(fixture.group, in: fixture.home)
        let record = try LockFile(directory: container.root, name: ContainerLayout.lockFile)
            .acquire(LockRange(slot: 7), .exclusive, timeout: .zero)
        let options = VaultOptions(lockTimeout: .milliseconds(20))
        let refused = code { () throws(VaultError) in
            _ = try Vault.abandon(
                fixture.accessGroup, in: fixture.home, slots: [.defaultKeyFile],
                options: options)
        }
        #expect(refused == .lockTimeout)
        #expect(try SystemFile.read(fixture.path) == before)
        #expect(fixture.isInContainer(self.record))
        record.unlock()
        #expect(throws: Never.self) { try fixture.abandon() }
    }

    @Test func aProgramThatKeepsWritingLeavesNoBlobOfTheOldKeyBehind() throws {
        // writer:  write, write, write, .......... finds another vault: ends
        // here:    ........... abandons ...........
        let child = try ChildProcess(
            "sealed-probe", ["store-write-loop", fixture.directory.path, fixture.group.identifier, "100"])
        #expect(try child.readLine() == "written 1")
        let report = try fixture.abandon()
        child.closeInput()
        let result = try child.finish()
        #expect(result.exitCode == 1)
        #expect(report.quarantined.count == 1)
        let vault = try fixture.open()
        let left = try OrphanCheck(fixture.accessGroup, in: fixture.home).orphans(knowing: vault.keyring.ids)
        #expect(left.isEmpty)
    }

    @Test func theRulesOfASharedContainerHoldInItsQuarantine() throws {
        _ = try groupInUse()
        let report = try fixture.abandon()
        let folder = try #require(report.quarantined.first?.to.split(separator: "/Library").first)
        #expect(try SystemFile.mode(String(folder)) & 0o777 == 0o700)
    }
}
