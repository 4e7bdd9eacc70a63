import AppGroups
import CryptoPrimitives
import FoundationEssentials
import Glibc
import KeyVault
import Sealing
import TestSupport
import Testing

@testable import SealedState

/// Tests of the roster in force after the file in the container was removed, rolled back, exchanged or renewed.
@Suite struct RosterChangeTests {
    private let note = Note(text: "from the app", number: 1)

    private func read(_ store: SealedStore) throws(StoreError) -> Note { try store.read(Note.self) }

    /// Returns a store that looks at the roster's file now.
    private func looking(_ store: SealedStore) -> SealedStore {
        store.authority?.look()
        return store
    }

    @Test func removedRosterContinuesFromTheMemory() throws {
        let sandbox = try WritersSandbox()
        let app = try sandbox.open(as: sandbox.app)
        try app.write(note)
        unlink(sandbox.rosterPath)
        for store in [
            looking(app), try sandbox.open(as: sandbox.app), try sandbox.open(as: sandbox.app, stating: .some(nil)),
        ] {
            #expect(store.rosterState?.condition == .missing)
            #expect(try read(store) == note)
            try store.write(note)
            try sandbox.fixture.plant(try sandbox.forged(sandbox.attacker()) { $0.sequence = 900 })
            #expect(code { _ = try read(store) } == .notAuthorized)
            try store.write(note)
        }
    }

    @Test func withoutAnyRosterEveryRecordIsNotAuthorized() throws {
        let sandbox = try WritersSandbox()
        try sandbox.open(as: sandbox.app).write(note)
        try sandbox.open().write(note, named: "other")
        unlink(sandbox.rosterPath)
        sandbox.forget()
        let store = try sandbox.open(as: sandbox.app)
        #expect(code { _ = try read(store) } == .notAuthorized)
        #expect(code { _ = try store.read(Note.self, named: "other") } == .notAuthorized)
        #expect(code { try store.write(note, named: "new") } == .notAuthorized)
        // A roster is noticed as soon as its file exists.
        try sandbox.put(sandbox.signed(1))
        #expect(try read(store) == note)
        #expect(try store.read(Note.self, named: "other") == note)
    }

    @Test func olderRosterIsIgnored() throws {
        let sandbox = try WritersSandbox(roster: nil)
        let old = try sandbox.signed(1) {
            $0.set(Roster.Rule(try GovernedPattern("note"), grants: [sandbox.widget.id: .all]))
        }
        try sandbox.put(sandbox.signed(2))
        try sandbox.open(as: sandbox.app).write(note)
        try sandbox.put(old)
        let store = try sandbox.open(as: sandbox.app)
        #expect(store.rosterState?.condition == .older(version: 1))
        #expect(try read(store) == note)
        #expect(code { try sandbox.open(as: sandbox.widget).write(note) } == .notAuthorized)
    }

    @Test func rosterOfTheSameVersionWithOtherBytesIsForked() throws {
        let sandbox = try WritersSandbox()
        let app = try sandbox.open(as: sandbox.app)
        try app.write(note)
        try sandbox.put(
            sandbox.signed(1) { $0.set(Roster.Rule(try GovernedPattern("note"), grants: [sandbox.widget.id: .all])) })
        #expect(looking(app).rosterState?.condition == .forked)
        #expect(try read(app) == note)
        #expect(code { try sandbox.open(as: sandbox.widget).write(note) } == .notAuthorized)
    }

    @Test func rosterOfAnotherTeamKeyIsRefused() throws {
        let sandbox = try WritersSandbox()
        try sandbox.open(as: sandbox.app).write(note)
        let other = try TeamKey.random()
        let forged = try SignedRoster(
            signing: sandbox.roster(7) { roster in
                roster.team = other.publicKey
                roster.set(Roster.Rule(try GovernedPattern("note"), grants: [sandbox.widget.id: .all]))
            }, with: other)
        try sandbox.put(forged)
        let known = try sandbox.open(as: sandbox.widget)
        #expect(code { try known.write(note) } == .notAuthorized)
        #expect(try read(known) == note)
        // A new user has only the key of the program to verify with.
        sandbox.forget()
        let first = try sandbox.open(as: sandbox.widget)
        #expect(code { _ = try read(first) } == .notAuthorized)
        guard case .refused(let error) = first.rosterState?.condition else {
            Issue.record("the roster was not refused")
            return
        }
        #expect(error.code == .wrongTeamKey)
    }

    @Test(arguments: [0, 40, 100, -70, -1]) func damagedRosterIsRefusedAndTheAcceptedOneContinues(_ offset: Int) throws
    {
        let sandbox = try WritersSandbox()
        let app = try sandbox.open(as: sandbox.app)
        try app.write(note)
        var bytes = try sandbox.signed(2).bytes
        bytes[offset < 0 ? bytes.count + offset : offset] ^= 1
        try sandbox.putBytes(bytes)
        guard case .refused = looking(app).rosterState?.condition else {
            Issue.record("a damaged roster was accepted")
            return
        }
        #expect(try read(app) == note)
    }

    @Test func successorOfTheTeamKeyIsFollowedAndEndsTheFormerOne() throws {
        let sandbox = try WritersSandbox()
        try sandbox.open(as: sandbox.app).write(note)
        let next = try TeamKey.random()
        var succeeded = try sandbox.roster(1).succeeded(by: next.publicKey, naming: sandbox.team)
        succeeded.version = 2
        let second = try SignedRoster(signing: succeeded, with: next)
        try sandbox.put(second)
        // A program with the first key, one with the second, and one without a key.
        for key in [sandbox.team.publicKey, next.publicKey, nil] {
            let store = try sandbox.open(as: sandbox.app, stating: .some(key))
            #expect(store.rosterState?.condition == .current)
            #expect(store.rosterState?.roster?.roster.version == 2)
            #expect(try read(store) == note)
        }
        // The former key no longer signs.
        try sandbox.put(
            sandbox.signed(3) { $0.set(Roster.Rule(try GovernedPattern("note"), grants: [sandbox.widget.id: .all])) })
        #expect(code { try sandbox.open(as: sandbox.widget).write(note) } == .notAuthorized)
        // The former key does not name a second successor.
        let third = try TeamKey.random()
        var forked = try sandbox.roster(1).succeeded(by: third.publicKey, naming: sandbox.team)
        forked.version = 4
        try sandbox.put(SignedRoster(signing: forked, with: third))
        #expect(try sandbox.open(as: sandbox.app, stating: .some(nil)).rosterState?.roster?.roster.version == 2)
    }

    @Test func onlyWriterRevokedLeavesNoRecordValid() throws {
        let sandbox = try WritersSandbox()
        let app = try sandbox.open(as: sandbox.app)
        try app.write(note)
        try sandbox.put(
            sandbox.signed(2) { $0.set(Roster.Writer(sandbox.app.publicKey, label: "app", state: .revoked)) })
        #expect(looking(app).rosterState?.roster?.roster.version == 2)
        #expect(code { _ = try read(app) } == .notAuthorized)
        #expect(code { try app.write(note) } == .notAuthorized)
        // Another writer with the right starts at a sequence above the accepted ones.
        let next = try WriterKey.random()
        try sandbox.put(
            sandbox.signed(3) { roster in
                roster.set(Roster.Writer(sandbox.app.publicKey, label: "app", state: .revoked))
                roster.set(Roster.Writer(next.publicKey, label: "next"))
                roster.set(Roster.Rule(try GovernedPattern("note"), grants: [next.id: .all]))
            })
        #expect(try sandbox.open(as: next).write(note) == 2)
        #expect(try read(looking(app)) == note)
    }

    @Test func retiredWriterKeepsTheRecordsThatAreListed() throws {
        let sandbox = try WritersSandbox()
        let app = try sandbox.open(as: sandbox.app)
        try app.write(note)
        try app.write(note, named: "accounts/ada")
        let (contents, header, trailer) = try sandbox.plaintext(sandbox.attacker())
        let digest = contents.withRawBytes {
            SignedRecord(header, group: sandbox.fixture.group.identifier, name: Note.recordName)
                .digest(rosterVersion: trailer?.rosterVersion ?? 0, contents: $0)
        }
        let kept = Roster.RetainedRecord(name: Note.recordName, sequence: header.sequence, signedDigest: digest)
        try sandbox.put(
            sandbox.signed(2) {
                $0.set(Roster.Writer(sandbox.app.publicKey, label: "app", state: .retired, retained: [kept]))
            })
        #expect(try read(looking(app)) == note)
        #expect(code { _ = try app.read(Note.self, named: "accounts/ada") } == .notAuthorized)
        #expect(code { try app.write(note) } == .notAuthorized)
    }

    @Test func recordOfANewerRosterIsReportedAsSuch() throws {
        let sandbox = try WritersSandbox(roster: nil)
        try sandbox.put(sandbox.signed(2))
        try sandbox.open(as: sandbox.app).write(note)
        // A user who has seen neither the second roster nor its file.
        sandbox.forget()
        try sandbox.put(sandbox.signed(1))
        let behind = try sandbox.open(as: sandbox.app)
        #expect(code { _ = try read(behind) } == .rosterBehind)
        // The version is the writer's claim: a program with an older roster does not overwrite its record.
        #expect(code { try behind.write(note) } == .rosterBehind)
        try sandbox.put(sandbox.signed(2))
        #expect(try read(behind) == note)
        #expect(try behind.write(note) == 2)
    }

    /// The vault's files are kept at an old period: a running program uses the roster's period, not theirs.
    @Test func theRosterEndsTheVaultOfARunningProgram() throws {
        let sandbox = try WritersSandbox()
        let app = try sandbox.open(as: sandbox.app)
        try app.write(note)
        try sandbox.put(try sandbox.signed(2) { $0.floor = VaultFloor(period: 2) })
        #expect(code { _ = try read(looking(app)) } == .vaultRolledBack)
        #expect(code { try app.write(note) } == .vaultRolledBack)
        #expect(code { _ = try sandbox.open(as: sandbox.app) } == .vaultRolledBack)
        sandbox.forget()
        #expect(code { _ = try sandbox.open(as: sandbox.app) } == .vaultRolledBack)
    }

    /// Two programs that change the same version: one of the changes would be lost.
    @Test func oneVersionIsSignedOnce() throws {
        let sandbox = try WritersSandbox()
        let container = try GroupContainer.open(sandbox.fixture.group, in: sandbox.fixture.home)
        let (first, second) = (try sandbox.signed(2), try sandbox.signed(2) { $0.floor = VaultFloor(period: 1) })
        try RosterFile.put(first, in: container, home: sandbox.fixture.home)
        #expect(throws: VaultError.self) { try RosterFile.put(second, in: container, home: sandbox.fixture.home) }
        #expect(try RosterFile.read(in: container) == first.bytes)
        // A member's own roster, with the same id and the highest version, is no obstacle, and neither is a link.
        let member = try TeamKey.random()
        let planted = try SignedRoster(
            signing: sandbox.roster(.max) { $0.team = member.publicKey }, with: member)
        try SystemFile.write(sandbox.rosterPath, planted.bytes)
        let third = try sandbox.signed(3)
        try RosterFile.put(third, in: container, home: sandbox.fixture.home)
        #expect(try RosterFile.read(in: container) == third.bytes)
        unlink(sandbox.rosterPath)
        symlink("/dev/null", sandbox.rosterPath)
        let fourth = try sandbox.signed(4)
        try RosterFile.put(fourth, in: container, home: sandbox.fixture.home)
        #expect(try RosterFile.read(in: container) == fourth.bytes)
        // Another roster of the same key is the user's data, so it stays.
        let other = Roster(
            group: sandbox.fixture.group.identifier, id: Bytes16.zero, version: 1, signedAt: 1,
            team: sandbox.team.publicKey)
        let again = try SignedRoster(signing: other, with: sandbox.team)
        #expect(throws: VaultError.self) { try RosterFile.put(again, in: container, home: sandbox.fixture.home) }
        #expect(try RosterFile.read(in: container) == fourth.bytes)
    }

    @Test func systemSettingsStateTheTeamKey() throws {
        let sandbox = try WritersSandbox()
        try sandbox.open(as: sandbox.app).write(note)
        sandbox.forget()
        let directory = sandbox.fixture.place.path("etc")
        mkdir(directory, 0o755)
        let file = "\(directory)/\(sandbox.fixture.group).team"
        try SystemFile.write(file, Array("# the team key\n\(sandbox.team.publicKey)\n".utf8), mode: 0o644)
        try TeamKeySettings.$current.withValue(TeamKeySettings(directory: directory)) {
            let store = try sandbox.open(stating: .some(nil))
            #expect(try store.snapshot(of: Note.self).provenance.writer == sandbox.app.id.description)
            // Two sources that name different keys result in no key.
            sandbox.forget()
            let other = try TeamKey.random().publicKey
            #expect(code { _ = try read(sandbox.open(stating: .some(other))) } == .notAuthorized)
            // A file that others may change is not trusted.
            chmod(file, 0o666)
            #expect(code { _ = try sandbox.open() } == .roster)
        }
    }

    @Test func damagedMemoryIsReportedAndStaysAsItIs() throws {
        let sandbox = try WritersSandbox()
        try sandbox.open(as: sandbox.app).write(note)
        var bytes = try SystemFile.read(sandbox.memoryPath)
        bytes[60] ^= 1
        unlink(sandbox.memoryPath)
        try SystemFile.write(sandbox.memoryPath, bytes, mode: 0o600)
        #expect(code { _ = try sandbox.open() } == .roster)
        #expect(try SystemFile.read(sandbox.memoryPath) == bytes)
    }

    @Test func memoryIsReadableForItsUserAlone() throws {
        let sandbox = try WritersSandbox()
        try sandbox.open(as: sandbox.app).write(note)
        var facts = stat()
        #expect(stat(sandbox.memoryPath, &facts) == 0)
        #expect(facts.st_mode & 0o777 == 0o600)
    }

    @Test func signedRecordOutlivesThreeRotationsWithoutItsWriter() throws {
        let sandbox = try WritersSandbox()
        try sandbox.open(as: sandbox.app).write(note)
        let anyone = try sandbox.open(stating: .some(nil))
        var options = RotationOptions()
        options.durability = .unsynced
        for epoch in 2...4 as ClosedRange<UInt32> {
            #expect(try anyone.rotate(options).isCompleted)
            let snapshot = try sandbox.open().snapshot(of: Note.self)
            #expect(snapshot.value == note)
            #expect(snapshot.provenance.epoch == epoch)
            #expect(snapshot.provenance.writer == sandbox.app.id.description)
            #expect(snapshot.provenance.sequence == 1)
        }
        #expect(try sandbox.open(as: sandbox.app).write(note) == 2)
    }

    @Test func rotationGivesNoRightAndLosesNothing() throws {
        let sandbox = try WritersSandbox()
        let app = try sandbox.open(as: sandbox.app)
        try app.write(note)
        try app.write(note, named: "accounts/ada")
        try sandbox.fixture.plant(try sandbox.forged(sandbox.attacker()) { $0.sequence = 5 })
        var options = RotationOptions()
        options.durability = .unsynced
        // By a user who knows the team key and has no roster.
        let roster = try SystemFile.read(sandbox.rosterPath)
        unlink(sandbox.rosterPath)
        sandbox.forget()
        let stranger = try sandbox.open()
        #expect(code { _ = try stranger.read(Note.self, named: "accounts/ada") } == .notAuthorized)
        #expect(try stranger.rotate(options).isCompleted)
        try sandbox.putBytes(roster)
        #expect(try sandbox.open().read(Note.self, named: "accounts/ada") == note)
        #expect(code { _ = try read(sandbox.open()) } == .notAuthorized)
        let place = try app.places.place(Note.recordName)
        #expect(app.watermarks.mark(of: place.context.nameTag)?.sequence == 1)
        #expect(try app.write(note) == 2)
        #expect(try read(app) == note)
    }

    @Test func unsafeMemoryIsNotMissingMemory() throws {
        let sandbox = try WritersSandbox()
        try sandbox.open(as: sandbox.app).write(note)
        chmod(sandbox.fixture.place.path("Rosters"), 0o777)
        #expect(code { _ = try sandbox.open(stating: .some(nil)) } == .roster)
        chmod(sandbox.fixture.place.path("Rosters"), 0o700)
        #expect(try read(sandbox.open(stating: .some(nil))) == note)
    }
}
