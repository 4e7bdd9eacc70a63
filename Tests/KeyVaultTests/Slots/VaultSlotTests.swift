import CryptoPrimitives
import Glibc
import Sealing
import SharedFiles
import TestSupport
import Testing

@testable import KeyVault

/// Tests of slots of a vault on disk.
@Suite struct VaultSlotTests {
    /// A slot of each kind and its credential.
    struct Way: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let kind: SlotKind
        let reach: SlotReach
        let make: @Sendable (VaultFixture) throws -> (NewSlot, VaultCredential)

        static let all = [
            Way(testDescription: "passphrase", kind: .passphrase, reach: .whenUnlocked) { _ in
                (.passphrase(try Passphrase("new words"), .minimum), .passphrase(try Passphrase("new words")))
            },
            Way(testDescription: "key file", kind: .keyFile, reach: .afterFirstUnlock) { fixture in
                let path = fixture.directory.path("other.key")
                try SystemFile.write(path, keyText())
                return (.keyFile(path: path), .keyFile(path: path))
            },
            Way(testDescription: "default key file", kind: .keyFile, reach: .afterFirstUnlock) { _ in
                (.defaultKeyFile, .defaultKeyFile)
            },
            Way(testDescription: "credential", kind: .credential, reach: .afterFirstUnlock) { fixture in
                try SystemFile.write(fixture.credential("some name"), keyText(), mode: 0o440)
                return (.systemdCredential(name: "some name"), .systemdCredential(name: "some name"))
            },
            Way(testDescription: "recipient", kind: .recipient, reach: .whenUnlocked) { _ in
                let identity = try Identity.random()
                return (.recipient(identity.recipient), .identity(identity))
            },
            Way(testDescription: "unattended recipient", kind: .recipient, reach: .afterFirstUnlock) { _ in
                let identity = try Identity.random()
                return (.recipient(identity.recipient, unattended: true), .identity(identity))
            },
        ]
    }

    private func words(_ text: String) throws -> NewSlot { .passphrase(try Passphrase(text), .minimum) }

    private func reachesPerson(_ vault: Vault) throws -> Bool { try vault.isUnlocked() }

    /// Adds an item of *when unlocked* without a value.
    private func addPersonsItem(to vault: Vault) throws(VaultError) {
        try vault.addItem(
            service: "mail", account: "ada", label: "", accessibility: .whenUnlocked,
            value: UnsafeRawBufferPointer(start: nil, count: 0))
    }

    @Test(arguments: Way.all)
    func aSlotThatIsAddedOpensTheSameVault(_ way: Way) throws {
        let fixture = try VaultFixture()
        try fixture.inUnit {
            let vault = try fixture.create(with: passphrase("first"))
            let (slot, credential) = try way.make(fixture)
            let added = try vault.addSlot(slot)
            #expect(added.id == 2 && added.kind == way.kind && added.reach == way.reach)
            #expect(try vault.slots().map(\.id) == [1, 2])
            if way.kind == .recipient, way.reach == .whenUnlocked {
                // Any user can create a vault for a public key, so its holder accepts this one first.
                #expect(code { () throws(VaultError) in _ = try fixture.open(with: credential) } == .notAccepted)
                try fixture.accept(credential)
            }
            let opened = try fixture.open(with: credential)
            #expect(try opened.activeKey().id == vault.activeKey().id)
            #expect(try reachesPerson(opened) == (way.reach == .whenUnlocked))
            #expect(try opened.slotID(openedBy: credential) == 2)
            #expect(throws: Never.self) { try fixture.open(with: passphrase("first")) }
        }
    }

    @Test(arguments: Way.all)
    func aVaultCanBeMadeWithIt(_ way: Way) throws {
        let fixture = try VaultFixture()
        try fixture.inUnit {
            let (slot, credential) = try way.make(fixture)
            let vault = try Vault.create(
                fixture.accessGroup, in: fixture.home, slots: [slot], openingWith: credential)
            #expect(try vault.slots().map(\.kind) == [way.kind])
            #expect(try fixture.open(with: credential).activeKey().id == vault.activeKey().id)
        }
    }

    @Test func aSlotThatIsRemovedNoLongerOpens() throws {
        let fixture = try VaultFixture()
        let vault = try fixture.create(with: passphrase("first"))
        let second = try vault.addSlot(words("second"))
        try vault.removeSlot(id: 1)
        #expect(try vault.slots().map(\.id) == [second.id])
        let old = try passphrase("first")
        #expect(code { () throws(VaultError) in _ = try fixture.open(with: old) } == .wrongPassphrase)
        #expect(throws: Never.self) { try fixture.open(with: passphrase("second")) }
        #expect(code { () throws(VaultError) in try vault.removeSlot(id: 1) } == .slotNotFound)
    }

    @Test func theLastSlotStays() throws {
        let fixture = try VaultFixture()
        let vault = try fixture.create()
        let before = try SystemFile.read(fixture.path)
        #expect(code { () throws(VaultError) in try vault.removeSlot(id: 1) } == .lastSlot)
        #expect(try SystemFile.read(fixture.path) == before)
    }

    @Test func noSlotNumberIsGivenTwice() throws {
        let fixture = try VaultFixture()
        let vault = try fixture.create(with: passphrase("first"))
        let second = try vault.addSlot(words("second"))
        try vault.removeSlot(id: second.id)
        #expect(try vault.addSlot(words("third")).id == 3)
    }

    @Test func aVaultTakesThirtyTwoSlots() throws {
        let fixture = try VaultFixture()
        let vault = try fixture.create()
        let recipient = try Identity.random().recipient
        for _ in 2...32 { try vault.addSlot(.recipient(recipient, unattended: true)) }
        #expect(
            code { () throws(VaultError) in try vault.addSlot(.recipient(recipient, unattended: true)) } == .tooLarge)
        #expect(try fixture.open().slots().count == 32)
    }

    @Test func aVaultTakesEightPassphrases() throws {
        let fixture = try VaultFixture()
        let vault = try fixture.create(with: passphrase("p1"))
        for number in 2...8 { try vault.addSlot(words("p\(number)")) }
        let ninth = try words("p9")
        #expect(code { () throws(VaultError) in try vault.addSlot(ninth) } == .tooLarge)
        #expect(throws: Never.self) { try fixture.open(with: passphrase("p8")) }
    }

    @Test func passphrasesThatTogetherCostTooMuchAreRefused() throws {
        // The slot is written directly, because its derivation would take minutes.
        let fixture = try VaultFixture()
        let vault = try fixture.create(with: passphrase("first"))
        try vault.change(.slotAdded, needsPerson: true) { draft throws(VaultError) in
            let first = try present(draft.person?.slots.first)
            let id = draft.takeSlotID()
            var costs = ByteWriter()
            costs.append(id)
            let numbered = try present(try first.changing(4, to: costs.bytes))
            let slot = try present(try numbered.changing(72, to: [32, 0, 0, 0, 0, 0, 16, 0]))
            draft.person?.slots.append(slot)
            draft.register.slots.append(
                RegisteredSlot(
                    id: id, kind: slot.kind, reach: slot.reach, isVouchedFor: true, createdAt: slot.createdAt,
                    addedBy: 1,
                    publicKey: slot.publicKey, parameters: slot.parameters, label: ""))
        }
        let slot = try words("third")
        #expect(code { () throws(VaultError) in try vault.addSlot(slot) } == .tooCostly)
        #expect(throws: Never.self) { try fixture.open(with: passphrase("first")) }
    }

    @Test func aChangeOfPassphraseLeavesOneThatOpens() throws {
        let fixture = try VaultFixture()
        let vault = try fixture.create(with: passphrase("old"))
        let id = try #require(try vault.slotID(openedBy: passphrase("old")))
        let new = try vault.replaceSlot(id: id, with: words("new")).slot
        #expect(try vault.slots().map(\.id) == [new.id])
        let old = try passphrase("old")
        #expect(code { () throws(VaultError) in _ = try fixture.open(with: old) } == .wrongPassphrase)
        #expect(try fixture.keyID(with: passphrase("new")) == vault.activeKey().id.description)
        // The second writer finds that its slot is missing, and changes nothing.
        let third = try words("third")
        #expect(code { () throws(VaultError) in try vault.replaceSlot(id: id, with: third) } == .slotNotFound)
        #expect(throws: Never.self) { try fixture.open(with: passphrase("new")) }
    }

    @Test func ofManyChangesOfPassphraseAtOnceOneWins() throws {
        let fixture = try VaultFixture()
        try fixture.create(with: passphrase("old"))
        let results = try concurrently(8) { number in
            try fixture.open(with: passphrase("old")).replaceSlot(id: 1, with: words("new \(number)"))
        }
        var winners: [Int] = []
        for (number, result) in results.enumerated() {
            switch result {
            case .success: winners.append(number)
            case .failure(let error):
                // Later writers may find their old passphrase wrong before they reach the slot.
                #expect([.slotNotFound, .wrongPassphrase].contains((error as? VaultError)?.code))
            }
        }
        #expect(winners.count == 1)
        for number in 0..<8 {
            let credential = try passphrase("new \(number)")
            let opens = code { () throws(VaultError) in _ = try fixture.open(with: credential) } == nil
            #expect(opens == winners.contains(number))
        }
    }

    @Test func inAVaultWithPersonsOnlyTheySayWhoOpensIt() throws {
        let fixture = try VaultFixture()
        let person = try fixture.create(with: passphrase("person"))
        let keyFile = try person.addSlot(.defaultKeyFile)
        let service = try fixture.open()
        let identity = try Identity.random()
        let slot = try words("mine")
        let before = try fixture.copy().files
        #expect(code { () throws(VaultError) in try service.addSlot(slot) } == .locked)
        #expect(code { () throws(VaultError) in try service.addSlot(.recipient(identity.recipient)) } == .locked)
        let unattended = NewSlot.recipient(identity.recipient, unattended: true)
        #expect(code { () throws(VaultError) in try service.addSlot(unattended) } == .locked)
        #expect(code { () throws(VaultError) in try service.replaceSlot(id: keyFile.id, with: unattended) } == .locked)
        #expect(code { () throws(VaultError) in try service.removeSlot(id: keyFile.id) } == .locked)
        #expect(code { () throws(VaultError) in try service.rekey() } == .locked)
        #expect(try fixture.copy().files == before)
        #expect(throws: Never.self) { try person.addSlot(unattended) }
    }

    @Test func theFirstPersonOfAnUnattendedVaultIsWelcome() throws {
        let fixture = try VaultFixture()
        let vault = try fixture.create()
        #expect(!SystemFile.exists(fixture.personPath))
        try vault.addSlot(words("person"))
        #expect(SystemFile.exists(fixture.personPath))
        let person = try fixture.open(with: passphrase("person"))
        #expect(try reachesPerson(person))
        #expect(try !reachesPerson(fixture.open()))
        // No person was present to vouch for the first slot.
        #expect(try person.slots().map(\.isVouchedFor) == [false, true])
        let slot = try words("another")
        let service = try fixture.open()
        #expect(code { () throws(VaultError) in try service.addSlot(slot) } == .locked)
        try person.addSlot(slot)
        try addPersonsItem(to: fixture.open(with: passphrase("another")))
        #expect(try person.items().map(\.account) == ["ada"])
    }

    /// The slot is a write of each file, and the creation has made the first write of `vault` alone.
    @Test func aFirstPersonsSlotThatTheLogDoesNotHaveCountsAsTwoWrites() throws {
        let fixture = try VaultFixture()
        #expect(try fixture.create().readAccessLog().unloggedCount == 0)
        try fixture.open(options: VaultOptions(accessLog: .off)).addSlot(words("person"))
        let person = try fixture.open(with: passphrase("person"))
        #expect(try person.readAccessLog().unloggedCount == 2)
        try person.addSlot(words("another"))
        #expect(try person.readAccessLog().unloggedCount == 2)
    }

    @Test func aFirstPersonsSlotThatTheLogHasIsNotAnUnloggedWrite() throws {
        let fixture = try VaultFixture()
        try fixture.create().addSlot(words("person"))
        #expect(try fixture.open(with: passphrase("person")).readAccessLog().unloggedCount == 0)
    }

    @Test func theLastSlotOfAPersonStays() throws {
        let fixture = try VaultFixture()
        let vault = try fixture.create(with: passphrase("person"))
        try vault.addSlot(.defaultKeyFile)
        let before = try fixture.copy().files
        #expect(code { () throws(VaultError) in try vault.removeSlot(id: 1) } == .lastSlot)
        #expect(code { () throws(VaultError) in try vault.replaceSlot(id: 1, with: .defaultKeyFile) } == .lastSlot)
        #expect(try fixture.copy().files == before)
        try vault.addSlot(words("another"))
        try vault.removeSlot(id: 1)
        #expect(try fixture.open(with: passphrase("another")).slots().map(\.id) == [2, 3])
    }

    @Test func aSlotThatTheRegisterDoesNotListIsIgnored() throws {
        let fixture = try VaultFixture()
        let person = try fixture.create(with: passphrase("person"))
        try person.addSlot(.defaultKeyFile)
        let planted = fixture.directory.path("planted.key")
        try SystemFile.write(planted, keyText())
        let service = try fixture.open()
        // A service knows its root and can wrap it for any credential.
        let prepared = try NewSlot.keyFile(path: planted).maker(for: fixture.place)
            .prepare(vaultID: service.heldContents.vaultID)
        try service.change(.slotAdded) { draft throws(VaultError) in
            draft.service.slots.append(
                try prepared.slot(wrapping: draft.service.root, id: 9, createdAt: 1, trusted: nil))
        }
        #expect(try service.slots().map(\.id) == [1, 2])
        let credential = VaultCredential.keyFile(path: planted)
        #expect(code { () throws(VaultError) in _ = try fixture.open(with: credential) } == .wrongKeyFile)
        // The next writer removes it.
        try service.add("s", "a")
        let head = try CompartmentHead(parsing: SystemFile.read(fixture.path), path: "")
        #expect(head.slots.map(\.id) == [2])
    }

    @Test func aLabelSaysWhoseASlotIs() throws {
        let fixture = try VaultFixture()
        let vault = try fixture.create(with: passphrase("person"))
        let added = try vault.addSlot(.defaultKeyFile, label: "Wärter")
        #expect(added.label == "Wärter" && added.addedBy == 1 && added.isVouchedFor)
        #expect(try fixture.open().slots().map(\.label) == ["", "Wärter"])
        for label in [String(repeating: "x", count: 256), "a\u{1B}[2J", "a\nb"] {
            #expect(
                code { () throws(VaultError) in try vault.addSlot(.defaultKeyFile, label: label) } == .invalidArgument)
        }
    }
}

/// Returns the text of a key file with a new key.
func keyText() -> [UInt8] {
    let digits = SecureRandom.bytes(count: 32).map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }
    return Array("sealed-key-1 \(digits.joined())\n".utf8)
}

extension VaultFixture {
    /// Returns the path of a credential of the unit that `inUnit` imitates.
    func credential(_ name: String) -> String { directory.path("credentials/\(name)") }

    /// Runs the body as if the service manager had passed credentials to this program.
    func inUnit<Result>(_ body: () throws -> Result) throws -> Result {
        if !SystemFile.exists(directory.path("credentials")) { try directory.directory("credentials") }
        return try CredentialDirectory.$current.withValue(
            CredentialDirectory(path: directory.path("credentials")), operation: body)
    }
}
