import AppGroups
import CryptoPrimitives
import Glibc
import Sealing
import TestSupport
import Testing

@testable import KeyVault

/// A vault with two persons and a service, and items of both classes, in the index and in separate files.
struct RekeySandbox {
    let fixture: VaultFixture
    /// The person who creates and rekeys the vault.
    let ada: Identity
    let bob: Identity
    let bobSlot: UInt32
    let serviceSlot: UInt32

    init() throws {
        fixture = try VaultFixture()
        (ada, bob) = (try .random(), try .random())
        let vault = try Vault.create(
            fixture.accessGroup, in: fixture.home, slots: [.recipient(ada.recipient), .defaultKeyFile],
            openingWith: .identity(ada))
        bobSlot = try vault.addSlot(.recipient(bob.recipient), label: "Bob").id
        serviceSlot = try #require(try vault.slots().first { $0.kind == .keyFile }).id
        try fixture.accept(.identity(bob))
        for (account, accessibility) in [("service", Accessibility.afterFirstUnlock), ("person", .whenUnlocked)] {
            try vault.add("small", account, accessibility, Self.small)
            try vault.add("large", account, accessibility, Self.large)
        }
        try vault.makeKey(for: .whenUnlocked)
    }

    static let small: [UInt8] = [1, 2, 3]
    static let large = [UInt8](repeating: 7, count: 5000)

    func person(_ identity: Identity? = nil) throws(VaultError) -> Vault {
        try fixture.open(with: .identity(identity ?? ada))
    }

    /// Checks that a program reads everything that its slot reaches.
    func expectAllItems(_ vault: Vault, isPersons: Bool, _ comment: Comment = "") throws {
        #expect(try vault.value("small", "service") == Self.small, comment)
        #expect(try vault.value("large", "service") == Self.large, comment)
        let count = isPersons ? 4 : 2
        #expect(try vault.items().filter { ["small", "large"].contains($0.service) }.count == count, comment)
        guard isPersons else {
            #expect(code { () throws(VaultError) in _ = try vault.value("small", "person") } == .locked, comment)
            return
        }
        #expect(try vault.value("small", "person") == Self.small, comment)
        #expect(try vault.value("large", "person") == Self.large, comment)
    }

    /// Returns the three writes of a rekey, as a program makes them that could be killed between them.
    func writes(_ options: RekeyOptions) throws -> [(role: CompartmentRole, bytes: [UInt8])] {
        let vault = try person()
        let contents = try vault.current()
        var draft = try vault.keys.withPerson { root throws(VaultError) in
            try VaultDraft(
                contents, root: vault.keys.service, person: (root, try contents.person(root, place: vault.place)),
                slotID: 1, place: vault.place)
        }
        if options.rebuildsServices { try draft.rebuildServices(after: nil) }
        let plan = try RekeyPlan(draft, options)
        try plan.begin(&draft)
        var writes: [(role: CompartmentRole, bytes: [UInt8])] = [(.person, try draft.file(.person))]
        try plan.finish(&draft) { draft, role throws(VaultError) in writes.append((role, try draft.file(role))) }
        return writes
    }

    /// Writes a `vault` with an unreadable index of items, in which everything else is correct.
    func damageIndex() throws { try Self.damageIndex(of: fixture) }

    static func damageIndex(of fixture: VaultFixture) throws {
        let vault = try fixture.open()
        let contents = try vault.current().service
        let head = contents.head
        let sealing = try PartSealing(vault.place, .service, period: head.period, root: vault.keys.service)
        var parts: [(entry: PartEntry, bytes: [UInt8])] = []
        for entry in head.parts {
            if entry.number == .items {
                parts.append(sealing.seal([1, 2, 3], as: .items, generation: head.generation, at: 1))
            } else {
                parts.append((entry, try #require(try contents.file.sealedPart(entry.number))))
            }
        }
        let image = CompartmentImage(
            role: .service, generation: head.generation, vaultID: head.vaultID, period: head.period,
            slots: head.slots, register: head.register?.signedBytes ?? [], parts: parts)
        try SystemFile.write(fixture.path, try image.file(root: vault.keys.service, path: fixture.path))
    }

    func put(_ write: (role: CompartmentRole, bytes: [UInt8])) throws {
        try SystemFile.write(fixture.beside(write.role.leaf), write.bytes)
    }
}

/// Tests of new roots: a former member's knowledge becomes useless, and the others notice nothing.
@Suite struct VaultRekeyTests {
    private let sandbox: RekeySandbox
    private var fixture: VaultFixture { sandbox.fixture }

    init() throws { sandbox = try RekeySandbox() }

    private func head(_ role: CompartmentRole) throws -> CompartmentHead {
        try CompartmentHead(parsing: SystemFile.read(fixture.beside(role.leaf)), path: "")
    }

    /// Checks that a root opens neither head nor part of a compartment, in any period that it may try.
    private func expectNothingOpens(_ role: CompartmentRole, with root: RootKey) throws {
        let directory = try #require(try fixture.place.openDirectory())
        let file = try #require(try CompartmentFile.open(role, in: directory))
        #expect(!file.head.isAuthentic(root))
        for period in 1...file.head.period {
            let sealing = try PartSealing(fixture.place, role, period: period, root: root)
            for entry in file.head.parts {
                let sealed = try #require(try file.sealedPart(entry.number))
                #expect(code { () throws(VaultError) in _ = try sealing.open(sealed, entry) } == .corrupt)
            }
        }
    }

    // MARK: Removed holders

    @Test func aRemovedServiceOpensNothingNew() throws {
        let service = try fixture.open()
        let old = service.keys.service
        let before = try fixture.copy()
        let person = try sandbox.person()
        let report = try person.removeSlot(id: sandbox.serviceSlot)
        #expect(report.period == 2 && report.removed.map(\.id) == [sandbox.serviceSlot])
        #expect(report.kept.map(\.id) == [1, sandbox.bobSlot])
        // The service is running, reopens with the credential, and is a user who has never seen the vault.
        #expect(code { () throws(VaultError) in _ = try service.value("small", "service") } == .locked)
        #expect(code { () throws(VaultError) in try service.add("s", "a") } == .locked)
        #expect(code { () throws(VaultError) in _ = try fixture.open() } == .wrongKeyFile)
        try expectNothingOpens(.service, with: old)
        try expectNothingOpens(.person, with: old)
        // Every user who has seen the new copy refuses the old one.
        try fixture.restore(before)
        #expect(code { () throws(VaultError) in _ = try fixture.open() } == .rolledBack)
        #expect(code { () throws(VaultError) in _ = try sandbox.person() } == .rolledBack)
        #expect(code { () throws(VaultError) in _ = try person.value("small", "service") } == .rolledBack)
        // For a user who has not seen it, the old copy is unchanged and contains nothing that was written since.
        try fixture.forget()
        try sandbox.expectAllItems(try fixture.open(), isPersons: false)
    }

    @Test func aRemovedPersonOpensNothingNew() throws {
        let bob = try sandbox.person(sandbox.bob)
        let (oldService, oldPerson) = (bob.keys.service, try bob.keys.withPerson { root throws(VaultError) in root })
        let before = try fixture.copy()
        let ada = try sandbox.person()
        let formerKey = try #require(try ada.current().register?.personKey)
        try ada.removeSlot(id: sandbox.bobSlot)
        #expect(code { () throws(VaultError) in _ = try bob.value("small", "person") } == .locked)
        #expect(code { () throws(VaultError) in _ = try bob.value("small", "service") } == .locked)
        #expect(code { () throws(VaultError) in try bob.rekey() } == .locked)
        #expect(code { () throws(VaultError) in _ = try sandbox.person(sandbox.bob) } == .wrongIdentity)
        for root in [oldService, oldPerson] {
            try expectNothingOpens(.service, with: root)
            try expectNothingOpens(.person, with: root)
        }
        let register = try #require(try ada.current().register)
        #expect(register.personKey != formerKey && register.chain.map(\.key).contains(formerKey))
        #expect(throws: Never.self) { try register.verify(path: "") }
        try fixture.restore(before)
        #expect(code { () throws(VaultError) in _ = try sandbox.person() } == .rolledBack)
        #expect(code { () throws(VaultError) in _ = try fixture.open() } == .rolledBack)
    }

    /// A former person keeps the old person key and can write the directory.
    @Test func aFormerPersonsOwnRekeyIsAForkForThoseWhoSawTheRealOne() throws {
        let elsewhere = try VaultFixture()
        try elsewhere.directory.directory("Vaults")
        try elsewhere.directory.directory("Vaults/\(elsewhere.accessGroup)")
        let before = try fixture.copy()
        try elsewhere.restore(before)
        let ada = try sandbox.person()
        let service = try fixture.open()
        try ada.removeSlot(id: sandbox.bobSlot)
        // The open `service` has seen it as well.
        try sandbox.expectAllItems(service, isPersons: false)
        try elsewhere.accept(.identity(sandbox.bob)).removeSlot(id: 1)
        try fixture.restore(try elsewhere.copy())
        for vault in [ada, service] {
            #expect(code { () throws(VaultError) in _ = try vault.value("small", "service") } == .forked)
        }
        #expect(code { () throws(VaultError) in _ = try fixture.open() } == .forked)
        #expect(code { () throws(VaultError) in _ = try sandbox.person() } == .forked)
        #expect(code { () throws(VaultError) in _ = try fixture.openOrCreate() } == .forked)
    }

    // MARK: Remaining holders

    @Test(arguments: VaultSlotTests.Way.all, [false, true])
    func everyHolderWhoStaysFollowsAndReopens(_ way: VaultSlotTests.Way, renewsPersons: Bool) throws {
        try fixture.inUnit {
            let ada = try sandbox.person()
            let (slot, credential) = try way.make(fixture)
            try ada.addSlot(slot)
            let isPersons = way.reach == .whenUnlocked
            if isPersons, way.kind == .recipient { try fixture.accept(credential) }
            let holder = try fixture.open(with: credential)
            for period in [UInt32(2), 3] {
                // Another person makes the rekey, without the other holders.
                try sandbox.person(sandbox.bob).rekey(RekeyOptions(renewsPersons: renewsPersons))
                try sandbox.expectAllItems(holder, isPersons: isPersons, "period \(period)")
                try holder.add("s", "\(period)", isPersons ? .whenUnlocked : .afterFirstUnlock)
                #expect(holder.period == period)
                let reopened = try fixture.open(with: credential)
                try sandbox.expectAllItems(reopened, isPersons: isPersons, "period \(period)")
                // Its holder has written it in its own form.
                let own = try #require(try reopened.slots().first { $0.id == reopened.openingSlot })
                #expect(!own.isResealed)
                #expect(try reopened.value("s", "\(period)") == [1, 2, 3])
            }
        }
    }

    /// The holder's code for the vault is kept, so no holder must accept the vault again.
    @Test func aRekeyNeedsNoAcceptanceEvenWithoutAMemoryOfThePlace() throws {
        try sandbox.person(sandbox.bob).rekey(RekeyOptions(renewsPersons: true))
        try fixture.forget()
        try sandbox.expectAllItems(try sandbox.person(), isPersons: true)
    }

    @Test func valuesAreNotRewritten() throws {
        func files() throws -> [String: [UInt8]] {
            var found: [String: [UInt8]] = [:]
            for leaf in ["values", "values.person"] {
                for name in try SystemFile.names(fixture.beside(leaf)) {
                    found["\(leaf)/\(name)"] = try SystemFile.read(fixture.beside("\(leaf)/\(name)"))
                }
            }
            return found
        }
        let before = try files()
        #expect(before.count == 2)
        try sandbox.person().rekey(RekeyOptions(renewsPersons: true))
        #expect(try files() == before)
        try sandbox.expectAllItems(try sandbox.person(), isPersons: true)
    }

    // MARK: The start of a period

    @Test(arguments: [false, true]) func eachClassWithANewRootContinuesInItsNextEpoch(renewsPersons: Bool) throws {
        let vault = try sandbox.person()
        func active(_ protection: ProtectionClass) throws -> UInt32 { try vault.activeKey(for: protection).epoch }
        let blob = SealedFile(fixture, under: try vault.activeKey())
        let token = try vault.withTokenKey { id, _ in id }
        try vault.rekey(RekeyOptions(renewsPersons: renewsPersons))
        #expect(try active(.afterFirstUnlock) == 2)
        #expect(try active(.whenUnlocked) == (renewsPersons ? 2 : 1))
        #expect(try vault.rotationState(of: .afterFirstUnlock).isResealing)
        #expect(try vault.rotationState(of: .whenUnlocked).isResealing == renewsPersons)
        #expect(try blob.opens(with: vault.currentKeyring()))
        // Earlier digests are still checked, and new ones are made with another key.
        #expect(try vault.withTokenKey(token) { $0.count } == 32)
        #expect(try vault.withTokenKey { id, _ in id } != token)
        #expect(try head(.service).generation == 1 && head(.service).period == 2)
    }

    @Test func theAccessLogContinuesUnderANewKey() throws {
        let vault = try sandbox.person()
        let number = vault.log.keyNumber
        try vault.rekey()
        try vault.add("s", "a")
        #expect(vault.log.keyNumber == number + 1)
        let service = try fixture.open()
        var events: [AccessEvent] = []
        let found = try service.readAccessLog { entry, isAuthentic in
            #expect(isAuthentic)
            events.append(entry.event)
        }
        #expect(found.isIntact && found.notedHead == .found, "\(found)")
        #expect(events.contains(.rekeyed) && events.contains(.created))
    }

    /// A service that opens the vault between writes 2 and 3 already uses the new key.
    @Test func theThirdWriteIsEnteredUnderTheNewLogKey() throws {
        let vault = try sandbox.person()
        let number = vault.log.keyNumber
        try vault.rekey()
        var numbers: [UInt32] = []
        _ = try vault.readAccessLog { entry, _ in
            if entry.event == .rekeyed, entry.outcome == .intended { numbers.append(entry.keyNumber) }
        }
        #expect(numbers == [number, number, number + 1])
    }

    /// The program enters its reading after an entry under the new key. The log remains whole and contains the entry.
    @Test func aProgramThatHadTheVaultOpenEntersUnderTheNewLogKey() throws {
        let (service, vault) = (try fixture.open(), try sandbox.person())
        try vault.rekey()
        vault.note(.exported)
        service.note(.itemRead)
        #expect(service.log.keyNumber == vault.log.keyNumber)
        var last: AccessEvent?
        let found = try vault.readAccessLog { entry, _ in last = entry.event }
        #expect(found.isIntact && last == .itemRead, "\(found)")
    }

    // MARK: Slots that no person vouched for

    @Test func aSlotThatNoPersonVouchedForStaysOnlyByName() throws {
        let fixture = try VaultFixture()
        let service = try fixture.create()
        let identity = try Identity.random()
        let added = try service.addSlot(.recipient(identity.recipient))
        let person = try fixture.accept(.identity(identity))
        let before = try fixture.copy().files
        #expect(code { () throws(VaultError) in try person.rekey() } == .unvouchedSlots)
        #expect(try fixture.copy().files == before)
        try person.rekey(RekeyOptions(keeping: [1]))
        #expect(try person.slots().map(\.id) == [1, added.id])
        #expect(try person.slots().map(\.isVouchedFor) == [true, true])
        #expect(throws: Never.self) { try fixture.open() }
        // Naming the slot vouches for it.
        #expect(throws: Never.self) { try person.rekey() }
    }

    /// The caller's slot number does not determine the reach, which no person has stated.
    @Test func aSlotOfAPersonThatNoPersonVouchedForDoesNotStay() throws {
        let vault = try sandbox.person()
        let contents = try vault.current()
        var draft = try vault.keys.withPerson { root throws(VaultError) in
            try VaultDraft(
                contents, root: vault.keys.service, person: (root, try contents.person(root, place: vault.place)),
                slotID: 1, place: vault.place)
        }
        draft.register.slots = draft.register.slots.map { slot in
            RegisteredSlot(
                id: slot.id, kind: slot.kind, reach: slot.reach, isVouchedFor: slot.id != sandbox.bobSlot,
                createdAt: slot.createdAt, addedBy: slot.addedBy, publicKey: slot.publicKey,
                parameters: slot.parameters, label: slot.label)
        }
        func refusal(_ options: RekeyOptions) -> VaultError.Code? {
            code { () throws(VaultError) in _ = try RekeyPlan(draft, options) }
        }
        #expect(refusal(RekeyOptions(keeping: [sandbox.bobSlot])) == .unvouchedSlots)
        #expect(refusal(RekeyOptions(removing: [sandbox.bobSlot])) == nil)
    }

    @Test func aSlotThatIsNotThereOrTheLastOneIsRefusedAndNothingWritten() throws {
        let vault = try sandbox.person()
        let before = try fixture.copy().files
        func refused(_ ids: Set<UInt32>) -> VaultError.Code? {
            code { () throws(VaultError) in try vault.rekey(RekeyOptions(removing: ids)) }
        }
        #expect(refused([99]) == .slotNotFound)
        #expect(refused([1, sandbox.bobSlot]) == .lastSlot)
        #expect(refused([1, sandbox.bobSlot, sandbox.serviceSlot]) == .lastSlot)
        #expect(try fixture.copy().files == before)
    }

    // MARK: Without persons

    @Test func aVaultWithoutPersonsIsRekeyedByAService() throws {
        let fixture = try VaultFixture()
        let other = fixture.directory.path("other.key")
        try SystemFile.write(other, keyText())
        let credential = VaultCredential.keyFile(path: other)
        let service = try fixture.create()
        let id = try service.addSlot(.keyFile(path: other)).id
        try service.add("s", "a")
        try service.add("s", "large", RekeySandbox.large)
        let removed = try fixture.open(with: credential)
        let staying = try fixture.open()
        let old = removed.keys.service
        try service.removeSlot(id: id)
        #expect(code { () throws(VaultError) in _ = try removed.value("s", "a") } == .locked)
        #expect(code { () throws(VaultError) in _ = try fixture.open(with: credential) } == .wrongKeyFile)
        let head = try CompartmentHead(parsing: SystemFile.read(fixture.path), path: "")
        #expect(!head.isAuthentic(old) && head.period == 2)
        #expect(try staying.value("s", "a") == [1, 2, 3])
        #expect(try staying.value("s", "large") == RekeySandbox.large)
        #expect(try fixture.open().value("s", "large") == RekeySandbox.large)
        // The first person is added later.
        let identity = try Identity.random()
        try fixture.open().addSlot(.recipient(identity.recipient))
        let person = try fixture.accept(.identity(identity))
        try person.rekey(RekeyOptions(keeping: [1]))
        #expect(try staying.value("s", "a") == [1, 2, 3])
    }
}
