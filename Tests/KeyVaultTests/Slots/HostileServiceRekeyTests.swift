import AppGroups
import CryptoPrimitives
import Glibc
import Sealing
import TestSupport
import Testing

@testable import KeyVault

/// Tests that a service cannot prevent a person's rekey by its compartment's contents or by changing its file.
@Suite struct HostileServiceRekeyTests {
    private let sandbox: RekeySandbox
    private var fixture: VaultFixture { sandbox.fixture }

    init() throws { sandbox = try RekeySandbox() }

    private func plant(_ change: (inout VaultDraft) throws(VaultError) -> Void) throws { try fixture.plant(change) }

    private func expectRekeyed(_ report: RekeyReport) throws {
        #expect(report.period == 2)
        #expect(try fixture.open().period == 2)
        try sandbox.expectAllItems(try sandbox.person(), isPersons: true)
    }

    // MARK: The log

    /// The file's contents are correct, and so is its log.
    @Test func aRekeyThatFixesAModeIsLogged() throws {
        chmod(fixture.path, 0o666)
        let report = try sandbox.person().rekey()
        #expect(report.isLogged && report.losses.isEmpty)
        #expect(try sandbox.person().readAccessLog().unloggedCount == 0)
        try expectRekeyed(report)
    }

    // MARK: Floods

    @Test func aKeyringThatIsNotFullLosesNothing() throws {
        try plant { draft in draft.fillKeyring(upTo: KeyringEntry.maximumCount - 1) }
        let report = try sandbox.person().rekey()
        #expect(report.losses.isEmpty)
        #expect(try fixture.open().current().service.keyring.count == KeyringEntry.maximumCount)
        try expectRekeyed(report)
    }

    @Test func aFullKeyringIsRekeyedAndTheKeysThatGoAreNamed() throws {
        let old = try fixture.open().activeKey().id
        try plant { draft in draft.fillKeyring(upTo: KeyringEntry.maximumCount) }
        let report = try sandbox.person().rekey()
        #expect(report.losses.keys.count == KeyringEntry.maximumCount / 2)
        // Of the unused keys the oldest are dropped. The key that was active remains.
        #expect(report.losses.keys.map(\.epoch) == Array(2...UInt32(KeyringEntry.maximumCount / 2 + 1)))
        let vault = try fixture.open()
        #expect(vault.keyring.sealingKey(for: old) != nil)
        #expect(try vault.activeKey().epoch == UInt32(KeyringEntry.maximumCount + 1))
        #expect(throws: Never.self) { try vault.beginRotation() }
        try expectRekeyed(report)
    }

    /// Of two successive rekeys the first frees more room than the second.
    @Test func aFloodThatIsRepeatedChangesNothing() throws {
        for period in UInt32(2)...3 {
            try plant { draft in draft.fillKeyring(upTo: KeyringEntry.maximumCount) }
            #expect(try sandbox.person().rekey().period == period)
        }
    }

    @Test func aMinimumEpochWithoutAnActiveKeyIsLowered() throws {
        try plant { draft in
            for index in draft.service.keyring.indices { draft.service.keyring[index].state = .decryptOnly }
            draft.service.state.rotation.minimumEpoch = .max
        }
        try expectRekeyed(try sandbox.person().rekey())
        #expect(try fixture.open().activeKey().epoch == 2)
    }

    @Test func keysThatDoNotOpenAreNamedAndLeftOut() throws {
        try plant { draft in
            let index = draft.service.keyring.startIndex
            draft.service.keyring[index].wrappedKey[40] ^= 1
            let token = TokenKeyEntry.random(vaultID: draft.vaultID, createdAt: 1, root: .random())
            draft.service.tokenKeys[0].state = .checksOnly
            draft.service.tokenKeys.append(token)
        }
        #expect(code { () throws(VaultError) in _ = try fixture.open() } == .corrupt)
        let report = try sandbox.person().rekey()
        #expect(report.losses.keys.map(\.epoch) == [1])
        #expect(report.losses.tokenKeyCount == 1)
        try expectRekeyed(report)
    }

    @Test func anUnknownPartThatDoesNotOpenIsLeftOut() throws {
        let vault = try fixture.open()
        let contents = try vault.current().service
        let parts = try contents.head.parts.map { entry in
            (entry: entry, bytes: try #require(try contents.file.sealedPart(entry.number)))
        }
        let garbage = PartEntry(
            number: PartNumber(rawValue: 900), isCritical: false, sealedSize: parts[0].bytes.count, commitment: .zero)
        let image = CompartmentImage(
            role: .service, generation: contents.head.generation, vaultID: contents.head.vaultID, period: 1,
            slots: contents.head.slots, register: [], parts: parts + [(garbage, parts[0].bytes)])
        try SystemFile.write(fixture.path, try image.file(root: vault.keys.service, path: fixture.path))
        try expectRekeyed(try sandbox.person().rekey())
        #expect(try fixture.open().current().service.head.entry(PartNumber(rawValue: 900)) == nil)
    }

    /// A resealed slot is larger than one in its own form, so a full area has no room for it.
    @Test func aSlotAreaThatUnknownFieldsFillIsRekeyed() throws {
        try plant { draft in fillSlots(&draft) }
        try expectRekeyed(try sandbox.person().rekey())
    }

    private func fillSlots(_ draft: inout VaultDraft) {
        let size = draft.service.slots.reduce(0) { $0 + $1.encoded.count }
        var field = ByteWriter()
        field.append(UInt16(500))
        field.append(UInt16(0))
        field.append(UInt32(CompartmentHead.maximumSlotAreaSize - size - 8))
        field.append([UInt8](repeating: 1, count: CompartmentHead.maximumSlotAreaSize - size - 8))
        draft.service.slots[0].otherFields = field.bytes
    }

    @Test func aSlotIsAddedWhereUnknownFieldsFillTheArea() throws {
        try plant { draft in fillSlots(&draft) }
        let path = fixture.directory.path("new.key")
        let digits = SecureRandom.bytes(count: 32).withUnsafeBytes { $0.hexadecimal }
        try SystemFile.write(path, Array("sealed-key-1 \(digits)\n".utf8))
        try sandbox.person().addSlot(.keyFile(path: path))
        try sandbox.person().add("p", "new", .whenUnlocked)
        try sandbox.expectAllItems(try fixture.open(with: .keyFile(path: path)), isPersons: false)
        try sandbox.expectAllItems(try fixture.open(), isPersons: false)
    }

    /// A refused change has changed neither file.
    @Test func aSlotThatDoesNotFitIsNotListed() throws {
        let person = try sandbox.person()
        let before = try fixture.copy().files
        let contents = try person.current()
        var draft = try person.keys.withPerson { root throws(VaultError) in
            try VaultDraft(
                contents, root: person.keys.service,
                person: (root, try contents.person(root, place: person.place)), slotID: 1, place: person.place)
        }
        draft.register.nextSlotID += 1
        draft.service.generation = CompartmentHead.maximumGeneration
        let lock = try person.lockForChange()
        #expect(throws: VaultError.self) {
            try person.write(
                &draft, after: contents, under: lock, [.person, .service], .slotAdded, nil, isForced: true)
        }
        let after = try fixture.copy().files
        for leaf in VaultPlace.leaves { #expect(after[leaf] == before[leaf]) }
    }

    // MARK: Damage

    enum Damage: CaseIterable, Sendable {
        case missing, garbage, version, empty, directory, mode, code, watermarkKey, group, authentic
    }

    private func damage(_ damage: Damage) throws {
        switch damage {
        case .missing: unlink(fixture.path)
        case .garbage: try SystemFile.write(fixture.path, [UInt8](repeating: 0x41, count: 3000))
        case .version:
            var bytes = try SystemFile.read(fixture.path)
            bytes[4] = 9
            try SystemFile.write(fixture.path, bytes)
        case .empty: try SystemFile.write(fixture.path, [])
        case .directory:
            unlink(fixture.path)
            #expect(mkdir(fixture.path, 0o700) == 0)
        case .mode:
            try SystemFile.write(fixture.path, [UInt8](repeating: 0x41, count: 3000))
            #expect(chmod(fixture.path, 0o664) == 0)
        case .code:
            var bytes = try SystemFile.read(fixture.path)
            let head = try CompartmentHead(parsing: bytes, path: "")
            bytes[head.offset(of: .state) - 1] ^= 1
            try SystemFile.write(fixture.path, bytes)
        case .watermarkKey:
            try plant { draft throws(VaultError) in
                [UInt8](repeating: 1, count: 32).withUnsafeBytes { key in
                    draft.service.secrets.set(
                        SecretEntry(
                            .watermarkKey, number: 0, key, vaultID: draft.vaultID, root: draft.service.root))
                }
            }
        case .group: try plantKeyringOfAnotherGroup()
        case .authentic:
            // The watermark key is missing: everything fits, but every reader refuses it.
            try plant { draft in draft.service.secrets.remove(.watermarkKey) }
        }
    }

    private func plantKeyringOfAnotherGroup() throws {
        let vault = try fixture.open()
        let contents = try vault.current().service
        let other = VaultPlace(try AccessGroup("group.com.example.other"), in: fixture.home)
        let sealing = try PartSealing(other, .service, period: contents.head.period, root: vault.keys.service)
        let parts = try contents.head.parts.map { entry in
            entry.number == .keyring
                ? sealing.seal(contents.keyring.encoded, as: .keyring, generation: contents.head.generation, at: 1)
                : (entry: entry, bytes: try #require(try contents.file.sealedPart(entry.number)))
        }
        let image = CompartmentImage(
            role: .service, generation: contents.head.generation, vaultID: contents.head.vaultID,
            period: contents.head.period, slots: contents.head.slots, register: [], parts: parts)
        try SystemFile.write(fixture.path, try image.file(root: vault.keys.service, path: fixture.path))
    }

    /// Checks that a person can change items of *when unlocked*, and nothing else.
    private func expectPersonsGoOn(_ person: Vault, _ comment: Comment) throws {
        try person.add("p", "new", .whenUnlocked, [8])
        try person.updateItem(service: "small", account: "person", label: "changed")
        try person.deleteItem(service: "large", account: "person")
        #expect(try person.value("p", "new") == [8], comment)
        #expect(code { () throws(VaultError) in _ = try person.value("large", "person") } == .itemNotFound, comment)
        try person.makeKey(for: .whenUnlocked, record: "note")
        #expect(try person.beginRotation(of: .whenUnlocked) == 2, comment)
        #expect(try person.completeRotation(of: .whenUnlocked, to: 2), comment)
        let file = try? SystemFile.read(fixture.path)
        for refused in [
            code { () throws(VaultError) in try person.add("p", "service", .afterFirstUnlock) },
            code { () throws(VaultError) in
                try person.updateItem(service: "p", account: "new", accessibility: .afterFirstUnlock)
            },
            code { () throws(VaultError) in try person.addSlot(.keyFile(path: fixture.beside("new.key"))) },
            code { () throws(VaultError) in _ = try person.withTokenKey { _, _ in } },
            code { () throws(VaultError) in try person.rekey() },
        ] {
            #expect(refused != nil && refused != .itemNotFound, comment)
        }
        #expect((try? SystemFile.read(fixture.path)) == file, comment)
    }

    @Test(arguments: Damage.allCases) func personsContinueBesideADamagedVaultAndRebuildIt(_ kind: Damage) throws {
        let running = try sandbox.person()
        try damage(kind)
        let comment: Comment = "\(kind)"
        try expectPersonsGoOn(try sandbox.person(), comment)
        // A program that had the vault open continues as well.
        #expect(try running.value("p", "new") == [8], comment)
        try running.add("p", "running", .whenUnlocked, [9])

        let report = try sandbox.person().rekey(rebuilding())
        #expect(report.losses.isCompartmentLost && report.period == 2, comment)
        // Large values are removed with the file whose index has their keys.
        let aside = report.losses.setAside
        let others = [fixture.beside("values"), fixture.beside("access.log")]
        let expected = kind == .missing ? others : [fixture.path] + others
        #expect(aside.map(\.from) == expected, comment)
        for file in aside { #expect(SystemFile.exists(file.to), comment) }
        let service = try fixture.open()
        #expect(service.period == 2, comment)
        #expect(try service.items().isEmpty, comment)
        // The epoch is later than every possible epoch of the former period.
        #expect(try service.activeKey().epoch == KeyringEntry.maximumEpoch(period: 1) + 1, comment)
        try service.add("s", "again")
        let person = try sandbox.person()
        #expect(try person.value("p", "running") == [9], comment)
        #expect(try person.value("s", "again") == [1, 2, 3], comment)
        #expect(try running.value("s", "again") == [1, 2, 3], comment)
        // The keys of the former log were lost with the file.
        let log = try person.readAccessLog()
        #expect(log.badCount == 0 && log.unloggedCount == 0, comment)
        #expect(try person.rekey().losses.isEmpty, comment)
    }

    private func rebuilding(removing: Set<UInt32> = []) -> RekeyOptions {
        var options = RekeyOptions(removing: removing)
        options.rebuildsServices = true
        return options
    }

    @Test func aVaultThatOpensIsNotGivenUp() throws {
        let before = try fixture.copy()
        #expect(code { () throws(VaultError) in try sandbox.person().rekey(rebuilding()) } == .invalidArgument)
        #expect(try fixture.copy().files == before.files)
        // Without persons no other copy exists.
        let alone = try VaultFixture("group.com.example.alone")
        let vault = try alone.create()
        #expect(code { () throws(VaultError) in try vault.rekey(rebuilding()) } != nil)
    }

    @Test func onlyTheIndexOfItemsIsGivenUpWhereTheRestOpens() throws {
        try sandbox.damageIndex()
        let key = try fixture.open().activeKey().id
        #expect(code { () throws(VaultError) in try sandbox.person().rekey() } == .corrupt)
        let report = try sandbox.person().rekey(rebuilding())
        #expect(report.losses.isItemIndexLost && !report.losses.isCompartmentLost)
        #expect(try fixture.open().keyring.sealingKey(for: key) != nil)
        #expect(try fixture.open().items().isEmpty)
    }

    /// A removed service that can still write the directory delays the rekey's completion, but not permanently.
    @Test(arguments: [1, 2], [Damage.missing, .garbage, .code])
    func aRekeyThatADamagedVaultHoldsUpIsCompletedWithAFreshOne(count: Int, kind: Damage) throws {
        for write in try sandbox.writes(RekeyOptions(removing: [sandbox.serviceSlot])).prefix(count) {
            try sandbox.put(write)
        }
        try damage(kind)
        let person = try sandbox.person()
        #expect(person.rekeyFailure != nil)
        #expect(code { () throws(VaultError) in try person.add("p", "a", .whenUnlocked) } != nil)
        #expect(code { () throws(VaultError) in try person.rekey() } != nil)
        let report = try person.rekey(rebuilding())
        #expect(report.period == 3 && report.losses.isCompartmentLost)
        #expect(code { () throws(VaultError) in _ = try fixture.open() } == .wrongKeyFile)
        let again = try sandbox.person()
        #expect(again.rekeyFailure == nil)
        #expect(try again.current().register?.nextRoot == nil)
        #expect(try again.value("small", "person") == RekeySandbox.small)
        try again.add("p", "a", .whenUnlocked)
        try again.add("s", "a", .afterFirstUnlock)
        #expect(try sandbox.person(sandbox.bob).value("s", "a") == [1, 2, 3])
    }

    /// An older write of `vault` is restored. Persons continue, and nothing in it is dropped or accepted.
    @Test func anOlderVaultIsAFaultOfServicesAlone() throws {
        let before = try fixture.copy()
        let service = try fixture.open()
        try service.beginRotation()
        let running = try sandbox.person()
        try fixture.restore(before, ["vault"])
        let person = try sandbox.person()
        try expectPersonsGoOn(person, "older")
        #expect(try running.value("p", "new") == [8])
        for vault in [person, try sandbox.person()] {
            #expect(vault.keyring.active == nil)
            #expect(code { () throws(VaultError) in _ = try vault.activeKey() } == .rolledBack)
            #expect(code { () throws(VaultError) in _ = try vault.value("small", "service") } == .rolledBack)
            #expect(code { () throws(VaultError) in try vault.rekey() } == .rolledBack)
        }
        #expect(code { () throws(VaultError) in _ = try fixture.open() } == .rolledBack)
        #expect(try SystemFile.read(fixture.path) == before.files["vault"])
        try fixture.accept(.identity(sandbox.ada))
        let report = try sandbox.person().rekey()
        #expect(report.period == 2 && report.losses.isEmpty)
        #expect(try fixture.open().value("small", "service") == RekeySandbox.small)
    }

    /// The former bytes return after the rebuild and are refused.
    @Test func theVaultOfBeforeIsRefusedAfterARebuild() throws {
        let before = try fixture.copy()
        try damage(.garbage)
        try sandbox.person().rekey(rebuilding())
        _ = try fixture.open()
        try fixture.restore(before, ["vault"])
        let refusal = code { () throws(VaultError) in _ = try fixture.open() }
        #expect([.replaced, .rolledBack, .wrongKeyFile].contains(refusal))
        #expect(code { () throws(VaultError) in _ = try sandbox.person().value("small", "service") } != nil)
    }

    /// A group's backup restores the lost data, and its keys come before the new one.
    @Test func aBackupBringsBackWhatWasGivenUp() throws {
        let key = try fixture.open().activeKey()
        let file = fixture.directory.path("backup")
        _ = try sandbox.person().export(
            to: file, for: [.recipient(sandbox.ada.recipient)])
        try damage(.garbage)
        try sandbox.person().rekey(rebuilding())
        let report = try Vault.import(
            from: file, opening: .identity(sandbox.ada), fixture.accessGroup, in: fixture.home,
            with: .identity(sandbox.ada))
        #expect(!report.isNewVault)
        try sandbox.expectAllItems(try fixture.open(), isPersons: false)
        #expect(try fixture.open().keyring.sealingKey(for: key.id) != nil)
    }
}
