import CryptoPrimitives
import FoundationEssentials
import Glibc
import KeyVault
import SealedState
import Sealing
import SharedFiles
import TestSupport
import Testing

/// A group with a team key, an app that may write `note` and everything below `accounts`, and an extension that may
/// write `inbox` only. Both programs hold all of the group's keys.
struct WritersSandbox {
    let fixture: StoreFixture
    let team: TeamKey
    let app: WriterKey
    let widget: WriterKey
    /// The roster's id.
    let id = SecureRandom.bytes(count: 16).withRawBytes { Bytes16($0) }

    init(roster version: UInt64? = 1) throws {
        fixture = try StoreFixture()
        team = try TeamKey.random()
        app = try WriterKey.random()
        widget = try WriterKey.random()
        // Creates the container.
        _ = try fixture.open()
        if let version { try put(try signed(version)) }
    }

    var rosterPath: String { fixture.container + "/.sealedstate.roster" }
    var memoryPath: String { fixture.place.path("Rosters/\(fixture.group).roster") }

    func roster(_ version: UInt64, _ change: (inout Roster) throws -> Void = { _ in }) throws -> Roster {
        var roster = Roster(
            group: fixture.group.identifier, id: id, version: version, signedAt: 1, team: team.publicKey,
            writers: [
                Roster.Writer(app.publicKey, label: "app"), Roster.Writer(widget.publicKey, label: "widget"),
            ],
            rules: [
                Roster.Rule(try GovernedPattern("note"), grants: [app.id: .all]),
                Roster.Rule(try GovernedPattern("accounts/*"), grants: [app.id: .all]),
                Roster.Rule(try GovernedPattern("inbox"), grants: [widget.id: .write]),
            ])
        try change(&roster)
        return roster
    }

    func signed(_ version: UInt64, _ change: (inout Roster) throws -> Void = { _ in }) throws -> SignedRoster {
        try SignedRoster(signing: roster(version, change), with: team)
    }

    func put(_ roster: SignedRoster) throws { try putBytes(roster.bytes) }

    func putBytes(_ bytes: [UInt8]) throws {
        unlink(rosterPath)
        try SystemFile.write(rosterPath, bytes)
    }

    /// Opens a store whose program has the team key.
    func open(
        as writer: WriterKey? = nil, stating key: TeamPublicKey?? = .none,
        _ change: (inout StoreOptions) -> Void = { _ in }
    ) throws -> SealedStore {
        try fixture.open { options in
            options.teamKey = key ?? team.publicKey
            options.writerKey = writer
            change(&options)
        }
    }

    /// Removes the user's memory of the roster, as for a new user.
    func forget() { unlink(memoryPath) }

    /// Opens a store without team key or memory: the capabilities of a holder of the group's keys.
    func attacker() throws -> SealedStore { try fixture.open { $0.teamKey = nil } }

    /// Creates a blob as a holder of the group's keys, without a writer key unless one is given.
    func forged(_ store: SealedStore, _ change: (inout Forgery) -> Void = { _ in }) throws -> [UInt8] {
        var forgery = try Forgery(store)
        change(&forgery)
        return forgery.blob
    }

    /// Returns the contents and trailer of the stored blob, and its header.
    func plaintext(
        _ store: SealedStore, _ name: String = Note.recordName
    ) throws -> ([UInt8], BlobHeader, RecordTrailer?) {
        let context = BlobContext(group: fixture.group.identifier, kind: .record, name: name)
        let key = try store.vault.activeKey()
        let opened = try fixture.blob(name).withRawBytes { blob throws(SealingError) in
            try BlobOpener.open(blob, context: context, keys: key, limit: .max)
        }
        let trailer = opened.trailer
        let header = opened.header.header
        return (opened.plaintext.withUnsafeBytes { Array($0) }, header, trailer)
    }

    /// Seals any plaintext under a header's fields with the group's key.
    func seal(
        _ plaintext: [UInt8], _ header: BlobHeader, name: String = Note.recordName, _ store: SealedStore,
        salt: Salt? = nil, _ change: (inout BlobDescription) -> Void = { _ in }
    ) throws -> [UInt8] {
        var description = BlobDescription(
            record: BlobContext(group: fixture.group.identifier, kind: .record, name: name), flags: header.flags,
            schemaVersion: header.schemaVersion, sequence: header.sequence, sealedAt: header.sealedAt,
            notAfter: header.notAfter, codec: header.codec)
        description.writer = header.writer
        change(&description)
        let key = try store.vault.activeKey()
        return plaintext.withRawBytes { BlobSealer.seal($0, as: description, key: key, fixedSalt: salt) }
    }
}
