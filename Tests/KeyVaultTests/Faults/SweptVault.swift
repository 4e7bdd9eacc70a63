import AppGroups
import Glibc
import Sealing
import TestSupport
import Testing

@testable import KeyVault

/// A change during which a program is killed.
enum SweptChange: String, CaseIterable, Sendable {
    case add, update, delete, slot, passphrase, begin, complete, destroy, rekey

    /// True if a person makes the change.
    var needsPerson: Bool { [.slot, .passphrase, .rekey].contains(self) }
}

/// The visible state of an open vault.
struct VaultFacts: Equatable {
    /// Sizes by account.
    var items: [String: Int]
    var slots: [UInt32]
    /// The epoch and state of every key.
    var keys: [String]
    var isResealing: Bool
    var minimumEpoch: UInt32

    init(_ vault: Vault) throws {
        items = Dictionary(uniqueKeysWithValues: try vault.items().map { ($0.account, $0.size) })
        slots = try vault.slots().map(\.id)
        keys = try vault.keySummaries().map { "\($0.epoch) \($0.state)" }
        let rotation = try vault.rotationState()
        (isResealing, minimumEpoch) = (rotation.isResealing, rotation.minimumEpoch)
        // Values are checked as well as names: every listed item can be read.
        for (account, size) in items { #expect(try vault.value("s", account).count == size) }
    }
}

/// One vault that undergoes the same change repeatedly.
final class SweptVault {
    static let knownNames: Set = [
        "vault", "vault.person", "values", "values.person", ".lock", "access.log", ".access.lock", ".readers",
        ".locked.\(geteuid())", ".reserve.\(geteuid())",
    ]
    /// The complete new files of a writer that was killed before it renamed them.
    static let pendingNames = [".vault.new", ".vault.person.new"]

    let change: SweptChange
    let fixture: VaultFixture
    /// Another program that keeps the vault open with its key file.
    private let vault: Vault
    /// The number of attempts. Each attempt writes different data.
    private var round = 0
    private var oldPassphrase = "p0"
    private var newPassphrase: String { "p\(round)" }
    private var personSlot: UInt32 = 0

    init(_ change: SweptChange) throws {
        self.change = change
        fixture = try VaultFixture()
        if change.needsPerson {
            let credential = try passphrase(oldPassphrase)
            try fixture.create(with: credential).addSlot(.defaultKeyFile)
        } else {
            try fixture.create()
        }
        vault = try fixture.open()
        try vault.add("s", "kept", [1])
        try vault.add("s", "a", [1, 2])
    }

    private func person() throws -> Vault { try fixture.open(with: try passphrase(oldPassphrase)) }

    /// Makes a separate change, reverts the change of the last round if it was made, and begins the next round.
    func prepare() throws -> VaultFacts {
        if change == .passphrase, round > 0, try opens(newPassphrase) { oldPassphrase = newPassphrase }
        round += 1
        try vault.update("s", "kept", value: [UInt8](repeating: 1, count: round % 5 + 1))
        let facts = try VaultFacts(vault)
        let newest = try vault.activeKey().epoch
        switch change {
        case .add: if facts.items["a"] != nil { try vault.deleteItem(service: "s", account: "a") }
        case .delete: if facts.items["a"] == nil { try vault.add("s", "a", [1, 2]) }
        case .slot:
            if facts.slots.count > 20 { try person().rekey(RekeyOptions(removing: Set(facts.slots.dropFirst(2)))) }
        case .begin, .rekey: if facts.isResealing { try vault.completeRotation(to: newest) }
        case .complete: if !facts.isResealing { _ = try vault.beginRotation() }
        case .destroy:
            if facts.isResealing { try vault.completeRotation(to: newest) }
            if !facts.keys.contains(where: { $0.contains("decrypt-only") }) {
                try vault.completeRotation(to: try vault.beginRotation())
            }
        case .update, .passphrase: break
        }
        personSlot = try vault.slots().first { $0.kind == .passphrase }?.id ?? 0
        return try VaultFacts(vault)
    }

    /// The probe that makes the change of this round.
    var probe: TracedProcess {
        let words: [String] =
            switch change {
            // An update writes a value file as well.
            case .add, .update: [change.rawValue, "a", "\(size)"]
            case .delete: ["delete", "a"]
            case .slot, .rekey: [change.rawValue, oldPassphrase]
            case .passphrase: ["passphrase", oldPassphrase, newPassphrase]
            case .complete: ["complete", "\((try? vault.activeKey().epoch) ?? 0)"]
            case .begin, .destroy: [change.rawValue]
            }
        let home = fixture.directory.path
        return TracedProcess(["vault-change", home, fixture.group.identifier] + words, log: home + ".trace")
    }

    private var size: Int { round + (change == .update ? 300 : 2) }

    /// Returns the vault after this round's change, based on its former state.
    func changed(_ old: VaultFacts) throws -> VaultFacts {
        var new = old
        let epoch = old.keys.count + 1
        switch change {
        case .add, .update: new.items["a"] = size
        case .delete: new.items["a"] = nil
        case .slot, .passphrase:
            if change == .passphrase { new.slots.removeAll { $0 == personSlot } }
            // The number depends on the earlier slots.
            new.slots.append(try #require(try fixture.open().slots().map(\.id).last))
        case .begin, .rekey:
            new.keys = old.keys.map { $0.replacing("active", with: "decrypt-only") } + ["\(epoch) active"]
            new.isResealing = true
        case .complete:
            new.isResealing = false
            new.minimumEpoch = UInt32(old.keys.count)
        case .destroy: new.keys = old.keys.map { $0.replacing("decrypt-only", with: "destroyed") }
        }
        return new
    }

    /// Returns `true` if the change was made. The vault must open with either the complete old or the complete new
    /// state.
    func wasChanged(_ old: VaultFacts, _ comment: Comment) throws -> Bool {
        if change == .rekey {
            // A service sees the old or the new keys between any two writes. The next person completes them.
            let seen = try VaultFacts(try fixture.open())
            let new = try changed(old)
            #expect(seen == old || seen == new, comment)
            #expect(try person().heldContents.register?.nextRoot == nil, comment)
        }
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

    /// Returns the names of unexpected files. The next change of an item removes value files without an item.
    func staleFiles(withValues: Bool = true) throws -> [String] {
        let names = try SystemFile.names(fixture.beside(""))
        let keys = try SystemFile.names(fixture.directory.path("Keys"))
        // The next compaction of the watermarks removes what a killed one left.
        let marks = try SystemFile.names(fixture.directory.path("Watermarks"))
            .filter { !$0.hasPrefix(".") && !$0.hasSuffix(".previous") }
        let values = names.contains("values") ? try SystemFile.names(fixture.beside("values")) : []
        let large = try vault.items().count { $0.size > ItemEntry.maximumInlineSize }
        return names.filter { !Self.knownNames.contains($0) && !$0.hasPrefix(".marks.") }
            + keys.filter { $0.hasPrefix(".") }
            + (keys.count + marks.count == 2 ? [] : keys + marks)
            + (withValues && values.count != large ? values : [])
    }
}
