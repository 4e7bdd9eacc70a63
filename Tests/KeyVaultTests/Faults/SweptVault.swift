import AppGroups
import Glibc
import KeyVault
import Sealing
import TestSupport
import Testing

/// A change that a program is killed in.
enum SweptChange: String, CaseIterable, Sendable {
    case add, update, delete, slot, passphrase, begin, complete, destroy
}

/// What can be seen of an open vault.
struct VaultFacts: Equatable {
    /// Sizes by account.
    var items: [String: Int]
    var slots: [UInt32]
    /// Epoch and state of every key.
    var keys: [String]
    var isResealing: Bool
    var minimumEpoch: UInt32

    init(_ vault: Vault) throws {
        items = Dictionary(uniqueKeysWithValues: try vault.items().map { ($0.account, $0.size) })
        slots = try vault.slots().map(\.id)
        keys = try vault.keySummaries().map { "\($0.epoch) \($0.state)" }
        let rotation = try vault.rotationState()
        (isResealing, minimumEpoch) = (rotation.isResealing, rotation.minimumEpoch)
        // Values as well as names: what is listed can be read.
        for (account, size) in items { #expect(try vault.value("s", account).count == size) }
    }
}

/// One vault that goes through the same change again and again.
final class SweptVault {
    static let knownNames: Set = [
        "vault", ".lock", "access.log", ".access.lock", ".readers", ".locked.\(geteuid())",
    ]
    /// The complete new file of a writer that was killed before it could rename it.
    static let pendingName = ".vault.new"

    let change: SweptChange
    let fixture: VaultFixture
    /// Another program that has the vault open all the time.
    private let vault: Vault
    /// How often the change was tried: what it writes differs each time.
    private var round = 0
    private var oldPassphrase = "p0"
    private var newPassphrase: String { "p\(round)" }

    init(_ change: SweptChange) throws {
        self.change = change
        fixture = try VaultFixture()
        vault = try fixture.create()
        try vault.add("s", "kept", [1])
        try vault.add("s", "a", [1, 2])
        if change == .passphrase { try addPassphrase() }
    }

    private func addPassphrase() throws {
        guard case .passphrase(let old) = try passphrase(oldPassphrase) else { return }
        try vault.addSlot(.passphrase(old, .minimum))
    }

    /// Makes a change of its own, takes back the change of the last round where it was made, and begins the next round.
    func prepare() throws -> VaultFacts {
        if change == .passphrase, round > 0, try opens(newPassphrase) { oldPassphrase = newPassphrase }
        round += 1
        try vault.update("s", "kept", value: [UInt8](repeating: 1, count: round % 5 + 1))
        let facts = try VaultFacts(vault)
        let newest = try vault.activeKey().epoch
        switch change {
        case .add: if facts.items["a"] != nil { try vault.deleteItem(service: "s", account: "a") }
        case .delete: if facts.items["a"] == nil { try vault.add("s", "a", [1, 2]) }
        case .slot: for id in facts.slots.dropFirst() { try vault.removeSlot(id: id) }
        case .begin: if facts.isResealing { try vault.completeRotation(to: newest) }
        case .complete: if !facts.isResealing { _ = try vault.beginRotation() }
        case .destroy:
            if facts.isResealing { try vault.completeRotation(to: newest) }
            if !facts.keys.contains(where: { $0.contains("decrypt-only") }) {
                try vault.completeRotation(to: try vault.beginRotation())
            }
        case .update, .passphrase: break
        }
        return try VaultFacts(vault)
    }

    /// The probe that makes the change of this round.
    var probe: TracedProcess {
        let words: [String] =
            switch change {
            case .add, .update: [change.rawValue, "a", "\(round + 2)"]
            case .delete: ["delete", "a"]
            case .slot: ["slot", "another"]
            case .passphrase: ["passphrase", oldPassphrase, newPassphrase]
            case .complete: ["complete", "\((try? vault.activeKey().epoch) ?? 0)"]
            case .begin, .destroy: [change.rawValue]
            }
        let home = fixture.directory.path
        return TracedProcess(["vault-change", home, fixture.group.identifier] + words, log: home + ".trace")
    }

    /// What the vault is after this round's change, by what it was before.
    func changed(_ old: VaultFacts) throws -> VaultFacts {
        var new = old
        let epoch = old.keys.count + 1
        switch change {
        case .add, .update: new.items["a"] = round + 2
        case .delete: new.items["a"] = nil
        case .slot, .passphrase:
            if change == .passphrase { new.slots.removeLast() }
            // Which number it gets depends on how many there have been.
            new.slots.append(try #require(try fixture.open().slots().map(\.id).last))
        case .begin:
            new.keys = old.keys.map { $0.replacing("active", with: "decrypt-only") } + ["\(epoch) active"]
            new.isResealing = true
        case .complete:
            new.isResealing = false
            new.minimumEpoch = UInt32(old.keys.count)
        case .destroy: new.keys = old.keys.map { $0.replacing("decrypt-only", with: "destroyed") }
        }
        return new
    }

    /// Whether the change was made; the vault opens with all that it was or all that it is to be.
    func wasChanged(_ old: VaultFacts, _ comment: Comment) throws -> Bool {
        let opened = try fixture.open()
        let (found, new) = (try VaultFacts(opened), try changed(old))
        let isNew = found == new && found != old
        #expect(found == old || isNew, comment)
        if change == .passphrase {
            #expect(try opens(newPassphrase) == isNew, comment)
            #expect(try opens(oldPassphrase) != isNew, comment)
        }
        let log = try opened.readAccessLog()
        #expect(log.isIntact && log.notedHead == .found, "\(comment): \(log)")
        return isNew
    }

    private func opens(_ text: String) throws -> Bool {
        let credential = try passphrase(text)
        return code { () throws(VaultError) in _ = try fixture.open(with: credential) } == nil
    }

    /// What lies about that should not.
    func litter() throws -> [String] {
        let names = try SystemFile.names(fixture.beside(""))
        let keys = try SystemFile.names(fixture.directory.path("Keys"))
        let marks = try SystemFile.names(fixture.directory.path("Watermarks"))
        return names.filter { !Self.knownNames.contains($0) && !$0.hasPrefix(".marks.") }
            + keys.filter { $0.hasPrefix(".") }
            + marks.filter { $0.hasPrefix(".") } + (keys.count + marks.count == 2 ? [] : keys + marks)
    }
}
