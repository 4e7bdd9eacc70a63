import AppGroups
import Glibc
import Sealing
import SharedFiles
import TestSupport
import Testing

@testable import KeyVault

/// Tests that an obstacle to a new vault is reported before anything changes, when a vault is abandoned or set aside.
@Suite struct VaultAbandonmentTests {
    private let sandbox: BackupSandbox
    private var fixture: VaultFixture { sandbox.here }
    private let record = "Library/Application Support/Records/state.sealed"

    init() throws { sandbox = try BackupSandbox() }

    /// Runs an operation that must fail, and checks that vault and record remain in their places.
    private func expectNothingMoved(
        _ expected: VaultError.Code, _ body: () throws(VaultError) -> Void
    ) throws {
        let before = try SystemFile.read(fixture.path)
        #expect(code(body) == expected)
        #expect(try SystemFile.read(fixture.path) == before)
        #expect(fixture.isInContainer(record))
        let names = try SystemFile.names(fixture.beside(""))
        #expect(!names.contains { $0.contains("abandoned") }, "\(names)")
    }

    @Test func aSharedVaultIsGivenUpWithoutSayingAgainWhoSharesIt() throws {
        chmod(fixture.directory.path, 0o755)
        _ = try Vault.create(
            fixture.accessGroup, in: fixture.home, slots: [.defaultKeyFile], sharing: .unixGroup(getegid()),
            openingWith: .defaultKeyFile)
        _ = try fixture.abandon()
        #expect(try SystemFile.mode(fixture.beside("")) == 0o2770)
        #expect(try SystemFile.mode(fixture.path) == 0o660)
        #expect(throws: Never.self) { try fixture.open() }
    }

    @Test func aSharedVaultIsSetAsideWithoutSayingAgainWhoSharesIt() throws {
        chmod(fixture.directory.path, 0o755)
        let vault = try Vault.create(
            fixture.accessGroup, in: fixture.home, slots: sandbox.slots, sharing: .unixGroup(getegid()),
            openingWith: sandbox.credential)
        try sandbox.export(vault)
        try sandbox.importBackup(to: fixture, ImportOptions(setsVaultAside: true))
        #expect(try SystemFile.mode(fixture.path) == 0o660)
        let restored = try sandbox.opened(fixture)
        #expect(
            try restored.vaultID == vault.vaultID && restored.currentKeyring().ids.isSuperset(of: vault.keyring.ids))
    }

    /// Creates a vault with a record and without a key file, which cannot be created. This fails when the new vault's
    /// slots are created.
    private func vaultWithoutPlaceForAKeyFile() throws -> Vault {
        let vault = try fixture.create(with: sandbox.credential)
        try fixture.put(SealedFile(fixture, under: try vault.activeKey()), record)
        try fixture.directory.directory("Keys", mode: 0o777)
        return vault
    }

    @Test func aSlotThatCannotBeMadeStopsItFirst() throws {
        _ = try vaultWithoutPlaceForAKeyFile()
        try expectNothingMoved(.unsafeFile) { () throws(VaultError) in _ = try fixture.abandon() }
    }

    @Test func aSlotThatCannotBeMadeStopsTheImportFirst() throws {
        try sandbox.export(try vaultWithoutPlaceForAKeyFile())
        try expectNothingMoved(.unsafeFile) { () throws(VaultError) in
            _ = try Vault.import(
                from: sandbox.path, opening: sandbox.credential, fixture.accessGroup, in: fixture.home,
                slots: [.defaultKeyFile], importing: ImportOptions(setsVaultAside: true))
        }
    }

    @Test(.enabled(if: SmallFileSystem.isPossible)) func aFullDiskStopsItFirst() throws {
        let small = try SmallFileSystem(at: fixture.directory.directory("Vaults"))
        let vault = try fixture.create()
        try fixture.put(SealedFile(fixture, under: try vault.activeKey()), record)
        let filler = open("\(small.path)/filler", O_WRONLY | O_CREAT | O_CLOEXEC, 0o600)
        let page = [UInt8](repeating: 1, count: 4096)
        while write(filler, page, page.count) > 0 {}
        close(filler)
        try expectNothingMoved(.file) { () throws(VaultError) in _ = try fixture.abandon() }
    }

    @Test(.enabled(if: SmallFileSystem.isPossible)) func filesOnAnotherFileSystemStopItFirst() throws {
        let vault = try fixture.create()
        try fixture.put(SealedFile(fixture, under: try vault.activeKey()), record)
        _ = try fixture.inContainer("Library/Caches/mounted/x")
        let small = try SmallFileSystem(
            at: fixture.directory.path("Containers/\(fixture.group)/Library/Caches/mounted"))
        // Plain files there do not prevent anything.
        try SystemFile.write("\(small.path)/plain", [1])
        try VaultAbandonment.requireReach(
            of: try OrphanCheck(fixture.accessGroup, in: fixture.home).orphans().filter { $0.path == record },
            in: try prepared())
        try SystemFile.write("\(small.path)/x.sealed", SealedFile(fixture, under: try vault.activeKey()).bytes)
        try expectNothingMoved(.otherFileSystem) { () throws(VaultError) in _ = try fixture.abandon() }
    }

    private func prepared() throws -> GroupContainer {
        let container = try GroupContainer.open(fixture.group, in: fixture.home)
        try VaultAbandonment.prepareQuarantine(in: container)
        return container
    }

    @Test func aStreamThatWasEndedMeanwhileCountsForTheFirstEpoch() throws {
        try fixture.create()
        _ = try prepared()
        let plan = VaultPlan(slots: [.defaultKeyFile])
        let creation = VaultCreation(place: fixture.place, home: fixture.home, plan: plan, options: VaultOptions())
        let late = SealedFile(fixture, name: "stream", under: try .random(epoch: 9))
        let path = try fixture.inContainer("Quarantine/abandoned/stream.sealed")
        let epoch = try creation.run(noting: .abandoned) { directory, _ throws(VaultError) in
            unlink(fixture.path)
            _ = try? SystemFile.write(path, late.bytes)
        }
        #expect(epoch == 10)
        #expect(try fixture.open().activeKey().epoch == 10)
    }

    @Test func deepDirectoriesCanBeAbandonedRepeatedly() throws {
        // The file is at the greatest depth that is searched. In quarantine it is one level deeper.
        let deep = [String](repeating: "d", count: 63).joined(separator: "/") + "/x.sealed"
        try fixture.put(SealedFile(fixture, under: try .random(epoch: 7)), deep)
        let report = try fixture.abandon()
        #expect(report.epoch == 8)
        #expect(report.quarantined.count == 1)
        #expect(try fixture.abandon().epoch == 8)
        // No user has opened the vault, so it may be created again.
        unlink(fixture.path)
        #expect(try fixture.openOrCreate().activeKey().epoch == 8)
    }

    @Test func aVaultThatCameMeanwhileStaysAndSoDoesItsLog() throws {
        // maker:   looks: no vault ........................ links its own: refused
        // person:  .................. moves one from a copy
        try fixture.create()
        let (vault, log) = (try SystemFile.read(fixture.path), try SystemFile.read(fixture.beside("access.log")))
        let creation = VaultCreation(
            place: fixture.place, home: fixture.home, plan: VaultPlan(slots: [.defaultKeyFile]),
            options: VaultOptions())
        #expect(
            code { () throws(VaultError) in
                _ = try creation.run(noting: .abandoned) { (_, _) throws(VaultError) in }
            } == .alreadyExists)
        #expect(try SystemFile.read(fixture.path) == vault)
        #expect(try SystemFile.read(fixture.beside("access.log")) == log)
    }

    @Test func theLogThatTheNewVaultBeganMeanwhileStays() throws {
        // maker:   looks: an old log, links the vault ......................... sets the old log aside
        // another: ...................................... opens it, begins a log
        try fixture.create()
        let directory = try #require(try fixture.place.openDirectory())
        let log = fixture.beside("access.log")
        var room = VaultAbandonment(in: fixture.place)
        let before = VaultAbandonment.logs(in: directory)
        rename(log, log + ".1")
        try SystemFile.write(log, [1])
        try room.setAside(before, in: directory)
        try room.setAside([:], in: directory)
        #expect(room.files.isEmpty)
        #expect(try SystemFile.read(log) == [1])
        try room.setAside(VaultAbandonment.logs(in: directory), in: directory)
        #expect(room.files.map(\.from) == [log, log + ".1"])
    }

    @Test func aKeyThatIsDestroyedInTheBackupOpensNothing() throws {
        let vault = try sandbox.vault()
        let first = try vault.activeKey()
        try fixture.put(SealedFile(fixture, under: first), record)
        try vault.completeRotation(to: try vault.beginRotation())
        try vault.destroyKey(first.id)
        try sandbox.export(vault)
        try expectNothingMoved(.orphanedBlobs) { () throws(VaultError) in
            try sandbox.importBackup(to: fixture, ImportOptions(setsVaultAside: true))
        }
    }

    @Test func readersOfTheOldVaultLeaveTheNewLogAlone() throws {
        let old = try sandbox.vault()
        _ = try fixture.abandon()
        let log = try SystemFile.read(fixture.beside("access.log"))
        #expect(code { () throws(VaultError) in _ = try old.copyValue(service: "mail", account: "anna") } == .replaced)
        #expect(code { () throws(VaultError) in try sandbox.export(old) } == .replaced)
        #expect(try SystemFile.read(fixture.beside("access.log")) == log)
        unlink(fixture.path)
        #expect(code { () throws(VaultError) in _ = try old.copyValue(service: "mail", account: "anna") } == .missing)
        #expect(try SystemFile.read(fixture.beside("access.log")) == log)
    }
}
