import AppGroups
import CryptoPrimitives
import Glibc
import Sealing
import TestSupport
import Testing

@testable import KeyVault

/// Tests of the files that a writer puts in place, and of its memory of them.
@Suite struct VaultWritingTests {
    private let sandbox: RekeySandbox
    private var fixture: VaultFixture { sandbox.fixture }

    init() throws { sandbox = try RekeySandbox() }

    private func memory() throws -> PlaceMemory { try #require(try fixture.place.memory.load()) }

    private func draft(of vault: Vault) throws(VaultError) -> VaultDraft {
        try VaultDraft(
            vault.current(), root: vault.keys.service, person: nil, slotID: nil, place: vault.place)
    }

    // MARK: Reading back

    /// A user who can write the directory needs no lock. A register without a valid signature may appear between a
    /// write and its check. If it were remembered as verified, it would never be verified again.
    @Test func aRegisterThatCameAfterTheWriteMovesNoMemory() throws {
        let service = try fixture.open()
        let (draft, before, held) = (try draft(of: service), try memory(), service.heldContents.register)
        let bytes = VaultBytes(try SystemFile.read(fixture.personPath))
        let last = bytes.register.upperBound - 1
        try SystemFile.write(fixture.personPath, bytes.with(bytes.bytes[last] ^ 1, at: last))
        #expect(code { () throws(VaultError) in try service.takeOver(draft, written: [.service]) } == .replaced)
        #expect(try memory() == before)
        #expect(service.heldContents.register == held)
        try SystemFile.write(fixture.personPath, bytes.bytes)
        #expect(throws: Never.self) { try service.takeOver(draft, written: [.service]) }
    }

    /// A person accepts the vault that was shown. A vault that replaces it meanwhile is not remembered.
    @Test(arguments: [true, false]) func onlyTheVaultThatWasComparedIsRemembered(isStated: Bool) throws {
        var options = VaultOptions()
        (options.acceptsRollback, options.isTentative) = (true, true)
        if isStated { options.expectedFingerprint = try sandbox.person().fingerprint }
        let accepting = try fixture.open(with: .identity(sandbox.ada), options: options)
        let before = try memory()
        // Bob has a separate home, so his programs' memory is stored elsewhere.
        let home = GroupsHome(root: fixture.directory.path, userRoot: fixture.directory.path("bob"))
        try Vault.open(fixture.accessGroup, in: home, with: .identity(sandbox.bob))
            .rekey(RekeyOptions(renewsPersons: true))
        #expect(code { () throws(VaultError) in try accepting.reload() } == .replaced)
        #expect(try memory() == before)
        // A program that accepts nothing follows.
        #expect(try sandbox.person().period == 2)
    }

    // MARK: Writes that the reader would refuse

    @Test func aChangeThatItsReaderWouldRefuseIsNotWritten() throws {
        let person = try sandbox.person()
        let before = try fixture.copy().files
        let highest = KeyringEntry.maximumEpoch(period: 1)
        func expectCorrupt(_ change: (inout VaultDraft) throws(VaultError) -> Void) {
            let refusal = code { () throws(VaultError) in
                try person.change(.itemAdded, needsPerson: true) { draft throws(VaultError) in try change(&draft) }
            }
            #expect(refusal == .corrupt)
        }
        expectCorrupt { draft throws(VaultError) in
            draft.service.keyring.append(
                .random(
                    epoch: highest + 1, state: .decryptOnly, protection: .afterFirstUnlock, createdAt: 1,
                    vaultID: draft.vaultID, root: draft.service.root))
        }
        expectCorrupt { draft throws(VaultError) in draft.service.state.rotation.minimumEpoch = 9 }
        expectCorrupt { draft throws(VaultError) in draft.service.tokenKeys += draft.service.tokenKeys }
        expectCorrupt { draft throws(VaultError) in
            [UInt8](repeating: 1, count: 32).withRawBytes {
                draft.person?.secrets.set(
                    SecretEntry(.logKey, number: 1, $0, vaultID: draft.vaultID, root: draft.service.root))
            }
        }
        expectCorrupt { draft throws(VaultError) in
            // These items belong to the other class.
            let items = try draft.service.loadItems(draft.place)
            draft.person?.items = items
        }
        #expect(try fixture.copy().files == before)
        try sandbox.expectAllItems(try sandbox.person(), isPersons: true)
    }

    // MARK: Drafts

    @Test func aDraftWithoutAPersonReachesNothingOfTheirs() throws {
        var locked = try draft(of: try fixture.open())
        let alone = try VaultFixture()
        var withoutPersons = try draft(of: try alone.create())
        for draft in [locked, withoutPersons] {
            #expect(code { () throws(VaultError) in _ = try draft.compartment(.whenUnlocked) } == .locked)
            #expect(throws: Never.self) { try draft.compartment(.afterFirstUnlock) }
        }
        #expect(code { () throws(VaultError) in _ = try locked.file(.person) } == .locked)
        #expect(code { () throws(VaultError) in _ = try withoutPersons.file(.person) } == .locked)
        // The advice differs: one class can be unlocked, and the other has no person who could do it.
        func advice(_ draft: VaultDraft) throws -> String {
            try #require(throws: VaultError.self) { _ = try draft.compartment(.whenUnlocked) }.advice
        }
        #expect(try advice(locked) != advice(withoutPersons))
    }

    @Test func afterTheLastSlotNumberNoSlotIsAddedAndTheVaultContinues() throws {
        let person = try sandbox.person()
        try person.change(.slotAdded, needsPerson: true) { draft throws(VaultError) in
            draft.register.nextSlotID = .max
        }
        let before = try fixture.copy().files
        let slot = NewSlot.recipient(try Identity.random().recipient, unattended: true)
        for _ in 0..<2 {
            #expect(code { () throws(VaultError) in try person.addSlot(slot) } == .tooLarge)
        }
        #expect(try fixture.copy().files == before)
        #expect(try person.slots().count == 3)
        try person.add("s", "a")
        try person.removeSlot(id: sandbox.serviceSlot)
        #expect(try sandbox.person().slots().map(\.id) == [1, sandbox.bobSlot])
    }

    // MARK: Accepted states

    /// The accepted states include the vault's own writes, under epochs that are its periods.
    @Test(arguments: [1, 2, CompartmentHead.maximumPeriod - 1])
    func theVaultsOwnWritesAreNotRecords(period: UInt32) throws {
        let fixture = try VaultFixture()
        let place = fixture.place
        let key = try NewSlot.defaultKeyFile.maker(for: place)
        var draft = try VaultDraft(making: [UInt8](1...16), period: period, place: place)
        try draft.add(try key.prepare(vaultID: draft.vaultID))
        _ = draft.addFirstKey(1)
        try fixture.directory.directory("Vaults")
        try fixture.directory.directory("Vaults/\(fixture.accessGroup)")
        try SystemFile.write(fixture.path, try draft.file(.service))
        let vault = try fixture.open()
        #expect(vault.period == period && !vault.hasSeenRecords)
        try vault.rekey()
        #expect(vault.acceptedRecords.isEmpty)
        let record = BlobContext(group: fixture.group.identifier, kind: .record, name: "a").nameTag
        // This has the same epoch as one of the vault's writes.
        _ = vault.watermarks.accept(
            compartment: record, Watermark(epoch: period, sequence: 1, commitment: .init(bytes: .zero)))
        #expect(vault.acceptedRecords == [record] && vault.hasSeenRecords)
    }
}

/// Tests of a creation that ends between its two files.
@Suite struct HalfMadeVaultTests {
    private let fixture: VaultFixture
    private let person: VaultCredential

    init() throws {
        fixture = try VaultFixture()
        person = try passphrase("correct horse")
        try fixture.create(with: person)
        unlink(fixture.path)
    }

    private func setAside() throws -> [[UInt8]] {
        try SystemFile.names(fixture.beside("")).filter { $0.hasPrefix("vault.person.abandoned-") }
            .map { try SystemFile.read(fixture.beside($0)) }
    }

    @Test(arguments: [true, false]) func isMadeAgainByOneWhoHasNeverOpenedIt(isAsked: Bool) throws {
        try fixture.forget()
        let half = try SystemFile.read(fixture.personPath)
        if isAsked { try fixture.create(with: person) } else { _ = try fixture.openOrCreate(with: person) }
        #expect(try setAside() == [half])
        let vault = try fixture.open(with: person)
        try vault.add("s", "a", .whenUnlocked)
        try vault.add("s", "b", .afterFirstUnlock)
        #expect(try fixture.open(with: person).items().count == 2)
    }

    /// The vault was complete once.
    @Test func staysForOneWhoHasOpenedIt() throws {
        let half = try SystemFile.read(fixture.personPath)
        let refusal = code { () throws(VaultError) in try fixture.create(with: person) }
        #expect(refusal == .alreadyExists)
        #expect(try SystemFile.read(fixture.personPath) == half && setAside().isEmpty)
    }

    @Test func aCompartmentWithContentsStays() throws {
        let whole = try VaultFixture()
        let vault = try whole.create(with: person)
        try vault.add("s", "a", .whenUnlocked)
        unlink(whole.path)
        try whole.forget()
        let file = try SystemFile.read(whole.personPath)
        #expect(code { () throws(VaultError) in try whole.create(with: person) } == .alreadyExists)
        #expect(try SystemFile.read(whole.personPath) == file)
    }

    /// The first person's slot creates the second file. If the program is killed before it rewrites `vault`, both files
    /// have a register.
    @Test func theFirstPersonsSlotIsSettledByTheNextOpening() throws {
        let fixture = try VaultFixture()
        try fixture.create().add("s", "service")
        let before = try SystemFile.read(fixture.path)
        guard case .passphrase(let words) = person else { return }
        // Another user makes the change, so this user's programs remember the former vault.
        let home = GroupsHome(root: fixture.directory.path, userRoot: fixture.directory.path("bob"))
        try Vault.open(fixture.accessGroup, in: home, with: .keyFile(path: fixture.keyFile))
            .addSlot(.passphrase(words, .minimum))
        try SystemFile.write(fixture.path, before)
        for isKnown in [true, false] {
            if !isKnown { try fixture.forget() }
            #expect(try fixture.open().value("s", "service") == [1, 2, 3])
            let opened = try fixture.open(with: person)
            try opened.add("s", "person \(isKnown)", .whenUnlocked)
            try opened.add("s", "service \(isKnown)")
            #expect(try fixture.open(with: person).items().count == (isKnown ? 3 : 5))
        }
        let directory = try #require(try fixture.place.openDirectory())
        #expect(try CompartmentFile.open(.service, in: directory)?.head.register == nil)
    }
}
