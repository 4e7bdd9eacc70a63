import FoundationEssentials
import KeyVault
import TestSupport
import Testing

@testable import SealedState

/// Mailboxes whose vault is rekeyed: no message is lost or reordered, and former members cannot read later ones.
@Suite(.timeLimit(.minutes(30))) struct MailboxRekeyTests {
    private let fixture: StoreFixture
    /// The store that rekeys, opened with a passphrase; programs use the key file.
    private let person: SealedStore

    init() throws {
        fixture = try StoreFixture()
        let passphrase = try Array("correct horse".utf8).withUnsafeBytes { try Passphrase(copying: $0) }
        _ = try Vault.create(
            AccessGroup(fixture.group), in: fixture.home,
            slots: [.passphrase(passphrase, .minimum), .defaultKeyFile], openingWith: .passphrase(passphrase))
        person = try Self.open(fixture.place.path, fixture, .passphrase(passphrase))
    }

    private static func open(
        _ root: String, _ fixture: StoreFixture, _ credential: VaultCredential
    ) throws -> SealedStore {
        var options = StoreOptions()
        options.durability = .unsynced
        options.now = { [place = fixture.place] in withExtendedLifetime(place) { Date() } }
        return try SealedStore(
            group: fixture.group, in: GroupsHome(root: root), unlockingWith: credential, options: options)
    }

    private func open(_ credential: VaultCredential = .defaultKeyFile) throws -> SealedStore {
        try Self.open(fixture.place.path, fixture, credential)
    }

    // producer:  send 1, 2, 3 ............................ send 4, 5
    // reader:    ............. take 1 .......................... acknowledge 1, take 2 to 5
    // member:    ............. reads 1, 2, 3 ................... reads nothing
    // person:    ........................... remove the member
    @Test func whatIsSentAfterARekeyIsClosedToAFormerMember() throws {
        let identity = try Identity.random()
        let slot = try person.vault.addSlot(.recipient(identity.recipient, unattended: true), label: "member")
        let member = try open(.identity(identity))
        let box = try open().mailbox(of: HandedItem.self, named: "handed", as: "app")
        for number in 1...3 { try box.send(HandedItem("\(number)")) }
        let former = try MailboxAccess("handed", in: member, .init())
        #expect(try former.waitingViews(upTo: 100).map(\.id.number) == [1, 2, 3])
        let taken = try box.take(upTo: 1)
        let attacker = try TemporaryDirectory()
        try copy("Vaults", to: attacker)

        try person.vault.removeSlot(id: slot.id)
        for number in 4...5 { try box.send(HandedItem("\(number)")) }
        for read in [former.waitingViews, former.takeViews] {
            let numbers = (try? read(100).map(\.id.number)) ?? []
            #expect(Set(numbers).isDisjoint(with: [4, 5]))
        }
        let payload = try member.writer.encode(HandedItem("6"), named: "handed")
        #expect(code { _ = try former.send(payload) } == .locked)
        // With the vault of before the rekey, of which it kept a copy.
        try copy("Containers", to: attacker)
        let stolen = try MailboxAccess("handed", in: Self.open(attacker.path, fixture, .identity(identity)), .init())
        #expect(try stolen.waitingViews(upTo: 3).map(\.id.number) == [1, 2, 3])
        let all = (try? stolen.waitingViews(upTo: 100).map(\.id.number)) ?? []
        #expect(Set(all).isDisjoint(with: [4, 5]))

        try box.acknowledge(taken)
        let rest = try box.take()
        #expect(rest.map(\.message.text) == ["2", "3", "4", "5"])
        #expect(rest.allSatisfy { !$0.isRedelivery && $0.lostBefore == 0 })
        try box.acknowledge(rest)
        #expect(try MailboxAccess("handed", in: person, .init()).status().allSatisfy { $0.waiting == 0 })
    }

    private func copy(_ directory: String, to other: TemporaryDirectory) throws {
        let result = try ChildProcess.run("/bin/cp", ["-a", fixture.place.path(directory), other.path])
        try #require(result.exitCode == 0, "\(result.errorText)")
    }

    // producer:  send 1, 2, 3, …
    // reader:    take, acknowledge, take, …
    // person:    rekey, rekey and reseal, rekey, …
    @Test func rekeysBesideAProducerAndAReaderLoseAndReorderNothing() throws {
        let (count, rekeys) = isLongForm ? (100_000, 40) : (4000, 4)
        let words = [fixture.place.path, fixture.group.identifier]
        let log = fixture.place.path("log")
        let reader = try ChildProcess("sealed-probe", ["mail-work"] + words + [log])
        let producer = try ChildProcess("sealed-probe", ["mail-send"] + words + ["app", "1", "\(count)", "unsynced"])
        var sent = 0
        for round in 1...rekeys {
            // The producer goes on meanwhile.
            for _ in 0..<count / (rekeys + 1) {
                sent += 1
                #expect(try producer.readLine() == "sent \(sent)")
            }
            #expect(try person.vault.rekey().period == UInt32(round + 1))
            if round % 2 == 0 { #expect(try person.rotate().isCompleted) }
        }
        let rest = try producer.finish(timeLimit: .seconds(600)).outputText.split(separator: "\n").map(String.init)
        #expect(rest == (sent + 1...count).map { "sent \($0)" })
        let access = try MailboxAccess("handed", in: person, .init())
        let end = ContinuousClock.now + .seconds(600)
        while try access.status().contains(where: { $0.waiting > 0 }), .now < end {}
        #expect(try reader.finish().outputText == "")
        let lines = String(decoding: try SystemFile.read(log), as: UTF8.self).split(separator: "\n").map(String.init)
        let taken = lines.filter { !$0.contains("acknowledged") }
        #expect(taken == (1...count).map { "app \($0) first 0 \($0) ." })
    }
}
