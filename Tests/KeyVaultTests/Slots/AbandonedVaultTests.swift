import AppGroups
import CryptoPrimitives
import Glibc
import Sealing
import SystemPackage
import TestSupport
import Testing

@testable import KeyVault

/// Tests of an abandoned service compartment: everything that can be kept is kept, and the result states the losses.
@Suite struct AbandonedVaultTests {
    private let sandbox: RekeySandbox
    private var fixture: VaultFixture { sandbox.fixture }

    init() throws { sandbox = try RekeySandbox() }

    private func rebuilding(removing: Set<UInt32> = []) -> RekeyOptions {
        var options = RekeyOptions(removing: removing)
        options.rebuildsServices = true
        return options
    }

    /// Writes a `vault` that fits its codes but that every reader refuses, because its watermark key is missing.
    private func damageSecrets() throws {
        let vault = try fixture.open()
        let contents = try vault.current()
        var draft = try VaultDraft(contents, root: vault.keys.service, person: nil, slotID: nil, place: vault.place)
        draft.service.secrets.remove(.watermarkKey)
        try SystemFile.write(fixture.path, try draft.file(.service))
    }

    // MARK: Interrupted

    /// Abandons the items in a program that is killed after this number of its writes.
    private func giveUpItems(killedAfter count: Int, isSetAside: Bool = false) throws {
        try sandbox.damageIndex()
        for write in try sandbox.writes(rebuilding()).prefix(count) { try sandbox.put(write) }
        guard isSetAside else { return }
        var room = VaultAbandonment(in: fixture.place)
        try room.setAsideService(in: try #require(try fixture.place.openDirectory()), withLog: false)
    }

    private func expectKeysKept(_ key: KeyID, period: UInt32) throws {
        let service = try fixture.open()
        #expect(service.period == period)
        #expect(service.keyring.sealingKey(for: key) != nil)
        #expect(try service.items().isEmpty)
        let person = try sandbox.person()
        #expect(try person.current().register?.nextRoot == nil && person.rekeyFailure == nil)
        #expect(try person.value("large", "person") == RekeySandbox.large)
        try person.add("s", "again", .afterFirstUnlock)
        #expect(try service.value("s", "again") == [1, 2, 3])
    }

    @Test(arguments: [false, true]) func thePendingRekeyIsCompletedWithoutItems(isSetAside: Bool) throws {
        let key = try fixture.open().activeKey().id
        try giveUpItems(killedAfter: 1, isSetAside: isSetAside)
        let person = try sandbox.person()
        #expect(person.rekeyFailure?.code == .corrupt)
        #expect(code { () throws(VaultError) in try person.rekey() } == .corrupt)
        let report = try person.rekey(rebuilding())
        #expect(report.period == 2 && report.removed.isEmpty)
        #expect(report.losses.isItemIndexLost && !report.losses.isCompartmentLost && report.losses.keys.isEmpty)
        try expectKeysKept(key, period: 2)
    }

    @Test(arguments: [2, 3]) func aRekeyWithItsSecondWriteIsCompletedByOpening(count: Int) throws {
        let key = try fixture.open().activeKey().id
        try giveUpItems(killedAfter: count)
        #expect(code { () throws(VaultError) in try sandbox.person().rekey(rebuilding()) } == .invalidArgument)
        try expectKeysKept(key, period: 2)
    }

    @Test func aRemovalFollowsTheCompletion() throws {
        let key = try fixture.open().activeKey().id
        try giveUpItems(killedAfter: 1)
        let report = try sandbox.person().rekey(rebuilding(removing: [sandbox.bobSlot]))
        #expect(report.period == 3 && report.removed.map(\.id) == [sandbox.bobSlot])
        #expect(report.losses.isItemIndexLost && !report.losses.isCompartmentLost)
        #expect(code { () throws(VaultError) in _ = try sandbox.person(sandbox.bob) } == .wrongIdentity)
        try expectKeysKept(key, period: 3)
    }

    @Test func theFileHasItsNameUntilItsSuccessorTakesIt() throws {
        let bytes = try SystemFile.read(fixture.path)
        var room = VaultAbandonment(in: fixture.place)
        try room.setAsideService(in: try #require(try fixture.place.openDirectory()), withLog: false)
        #expect(SystemFile.exists(fixture.beside("access.log")))
        #expect(try SystemFile.read(fixture.path) == bytes)
        #expect(room.files.map(\.from) == [fixture.path, fixture.beside("values")])
        #expect(try SystemFile.read(room.files[0].to) == bytes)
    }

    @Test(arguments: [UInt32(2047), 2048]) func noFileIsGivenUpWhereNoLaterEpochIsLeft(period: UInt32) throws {
        let person = try sandbox.person()
        try SystemFile.write(fixture.path, [])
        let contents = try person.current()
        var draft = try person.keys.withPerson { root throws(VaultError) in
            try VaultDraft(
                contents, root: person.keys.service,
                person: (root, try contents.person(root, place: person.place)), slotID: 1, place: person.place)
        }
        draft.register.period = period
        let refusal = code { () throws(VaultError) in try draft.rebuildServices(after: nil) }
        #expect(refusal == (period == 2048 ? .tooLarge : nil))
    }

    // MARK: Holders without a memory

    @Test func slotsThatTheDamagedFileShowsKeepTheirMemoryCodes() throws {
        try damageSecrets()
        let report = try sandbox.person().rekey(rebuilding())
        // The slot is reported although the file shows it, because nothing proves the codes of a damaged file.
        #expect(report.losses.isCompartmentLost && report.losses.rebuiltSlots == [sandbox.serviceSlot])
        try fixture.forget()
        #expect(throws: Never.self) { try fixture.open() }
    }

    @Test func aSlotWithoutMemoryCodeIsNamedAndAcceptedOnce() throws {
        try SystemFile.write(fixture.path, [UInt8](repeating: 0x41, count: 3000))
        let report = try sandbox.person().rekey(rebuilding())
        #expect(report.losses.rebuiltSlots == [sandbox.serviceSlot])
        try fixture.forget()
        #expect(code { () throws(VaultError) in _ = try fixture.open() } == .notAccepted)
        try fixture.accept(.defaultKeyFile)
        try fixture.forget()
        #expect(throws: Never.self) { try fixture.open() }
    }

    @Test func nothingElseOfTheSlotsIsCarriedOn() throws {
        let vault = try fixture.open()
        let contents = try vault.current()
        var draft = try VaultDraft(contents, root: vault.keys.service, person: nil, slotID: nil, place: vault.place)
        var field = ByteWriter()
        field.append(UInt16(500))
        field.append(UInt16(0))
        field.append(UInt32(3))
        field.append([1, 2, 3])
        draft.service.slots[0].otherFields = field.bytes
        draft.service.secrets.remove(.watermarkKey)
        try SystemFile.write(fixture.path, try draft.file(.service))
        #expect(try sandbox.person().rekey(rebuilding()).losses.isCompartmentLost)
        let slots = try fixture.open().current().service.head.slots
        #expect(slots.count == 1 && slots.allSatisfy(\.otherFields.isEmpty))
    }

    @Test func withoutPersonsTheDamagedFileIsKept() throws {
        let alone = try VaultFixture("group.com.example.alone")
        try alone.create().add("s", "large", .afterFirstUnlock, RekeySandbox.large)
        try RekeySandbox.damageIndex(of: alone)
        let bytes = try SystemFile.read(alone.path)
        let report = try alone.open().rekey(rebuilding())
        #expect(report.losses.isItemIndexLost)
        #expect(report.losses.setAside.map(\.from) == [alone.path, alone.beside("values")])
        #expect(try SystemFile.read(report.losses.setAside[0].to) == bytes)
        try alone.open().add("s", "again", .afterFirstUnlock, RekeySandbox.large)
        #expect(try alone.open().value("s", "again") == RekeySandbox.large)
    }

    // MARK: Permissions

    @Test(arguments: [0, 1]) func ofAFileWithWrongPermissionsOnlyWhatIsDamagedIsGivenUp(count: Int) throws {
        let key = try fixture.open().activeKey().id
        try giveUpItems(killedAfter: count)
        #expect(chmod(fixture.path, 0o664) == 0)
        let report = try sandbox.person().rekey(rebuilding())
        #expect(report.losses.isItemIndexLost && !report.losses.isCompartmentLost)
        try expectKeysKept(key, period: 2)
    }

    /// In a shared directory a path may refer to another file when a person runs the command.
    @Test(arguments: [false, true]) func noCommandByPathIsAdvisedInASharedDirectory(isShared: Bool) throws {
        let directory = FilePath(fixture.path).removingLastComponent().string
        if isShared { #expect(chmod(directory, 0o2770) == 0) }
        #expect(chmod(fixture.path, 0o666) == 0)
        let person = try sandbox.person()
        do throws(VaultError) {
            _ = try person.activeKey()
            Issue.record("It was read.")
        } catch {
            #expect(error.code == .unsafeFile)
            let isCommand = ["chmod ", "cp ", "mv "].contains { error.advice.contains($0) }
            #expect(isCommand == !isShared, "\(error.advice)")
        }
    }

    @Test(arguments: [UInt32(0o664), 0o620, 0o604]) func aRekeyRepairsWrongPermissions(mode: UInt32) throws {
        let before = try fixture.copy().files
        #expect(chmod(fixture.path, mode) == 0)
        let person = try sandbox.person()
        #expect(code { () throws(VaultError) in try person.rekey(rebuilding()) } == .invalidArgument)
        #expect(try fixture.copy().files == before)
        let report = try person.rekey(RekeyOptions(removing: [sandbox.bobSlot]))
        #expect(report.losses.isEmpty && report.removed.map(\.id) == [sandbox.bobSlot])
        #expect(try #require(try fixture.place.openDirectory()).attributes("vault").mode & 0o777 == 0o600)
        try sandbox.expectAllItems(try sandbox.person(), isPersons: true)
    }

    /// An opening completes the rekey.
    @Test func aPendingRekeyRepairsWrongPermissionsToo() throws {
        for write in try sandbox.writes(RekeyOptions()).prefix(1) { try sandbox.put(write) }
        #expect(chmod(fixture.path, 0o664) == 0)
        let person = try sandbox.person()
        #expect(person.rekeyFailure == nil && person.period == 2)
        try sandbox.expectAllItems(person, isPersons: true)
    }

    @Test func aVaultWhoseModeWasChangedAfterItsWriteIsWrittenAgain() throws {
        for write in try sandbox.writes(RekeyOptions()).prefix(2) { try sandbox.put(write) }
        #expect(chmod(fixture.path, 0o664) == 0)
        let person = try sandbox.person()
        #expect(person.rekeyFailure == nil && person.period == 2)
        #expect(try #require(try fixture.place.openDirectory()).attributes("vault").mode & 0o777 == 0o600)
        #expect(try fixture.open().value("small", "service") == RekeySandbox.small)
    }

    // MARK: An older file

    /// A member can exchange the file while a person reads the list of losses.
    @Test func noMoreIsLostThanWasConfirmed() throws {
        let older = try fixture.copy()
        try fixture.open().beginRotation()
        let person = try sandbox.person()
        try fixture.restore(older, ["vault"])
        var options = rebuilding()
        options.confirmedLosses = try person.lossesOfGivingUp()
        #expect(options.confirmedLosses?.lostWriteCount == 1)
        try SystemFile.write(fixture.path, [])
        let before = try fixture.copy().files
        #expect(code { () throws(VaultError) in try person.rekey(options) } == .lockTimeout)
        #expect(try fixture.copy().files == before)
        try fixture.restore(older, ["vault"])
        #expect(try person.rekey(options).losses.isCompartmentOlder)
    }

    /// A member can restore an older file repeatedly. The rekey reads it under its lock.
    @Test(arguments: [false, true]) func aRekeyContinuesWithAnOlderVault(isPending: Bool) throws {
        let before = try fixture.copy()
        let service = try fixture.open()
        let lost = try service.beginRotation()
        let person = try sandbox.person()
        if isPending { for write in try sandbox.writes(RekeyOptions()).prefix(1) { try sandbox.put(write) } }
        try fixture.restore(before, ["vault"])
        let previewed = try sandbox.person().lossesOfGivingUp()
        #expect(previewed.isCompartmentOlder && !previewed.isCompartmentLost && !previewed.isItemIndexLost)
        #expect(try SystemFile.read(fixture.path) == before.files["vault"])
        let report = try sandbox.person().rekey(rebuilding())
        #expect(report.period == 2 && report.losses.isCompartmentOlder && !report.losses.isCompartmentLost)
        #expect(try fixture.open().value("small", "service") == RekeySandbox.small)
        // The new key has a later epoch than every key of a lost write.
        #expect(try fixture.open().activeKey().epoch > lost)
        #expect(try person.rekey().losses.isEmpty)
    }

    @Test func anOlderVaultWithADamagedIndexKeepsItsKeys() throws {
        try sandbox.damageIndex()
        let before = try fixture.copy()
        let key = try fixture.open().activeKey().id
        try fixture.open().beginRotation()
        _ = try sandbox.person()
        try fixture.restore(before, ["vault"])
        let report = try sandbox.person().rekey(rebuilding())
        #expect(report.losses.isCompartmentOlder && report.losses.isItemIndexLost && !report.losses.isCompartmentLost)
        try expectKeysKept(key, period: 2)
    }

    // MARK: The result

    @Test func aRekeyWithoutLogIsReported() throws {
        let person = try sandbox.person()
        #expect(try person.rekey().isLogged)
        unlink(fixture.beside("access.log"))
        #expect(mkdir(fixture.beside("access.log"), 0o700) == 0)
        #expect(try !person.rekey().isLogged)
        #expect(try !person.removeSlot(id: sandbox.bobSlot).isLogged)
    }

    /// The log's key is in the damaged file.
    @Test func aSlotThatIsChangedBesideADamagedVaultSaysThatItIsNotLogged() throws {
        let new = try Identity.random()
        #expect(try sandbox.person().replaceSlot(id: sandbox.bobSlot, with: .recipient(new.recipient)).isLogged)
        try SystemFile.write(fixture.path, [])
        let slot = try #require(try sandbox.person().slots().last)
        let change = try sandbox.person().replaceSlot(id: slot.id, with: .recipient(try Identity.random().recipient))
        #expect(!change.isLogged)
        #expect(try sandbox.person().slots().map(\.id).contains(change.slot.id))
    }

    /// Every file that a rekey writes exists beside the file that it replaces.
    @Test func theStatedSizeCoversTheFilesThatAreWritten() throws {
        let person = try sandbox.person()
        let stated = try person.rekeySize()
        let written = try sandbox.writes(RekeyOptions(renewsPersons: true)).reduce(0) { $0 + $1.bytes.count }
        #expect(stated >= written)
        #expect(stated < written + (1 << 20))
    }
}
