import CryptoPrimitives
import FoundationEssentials
import Glibc
import KeyVault
import Sealing
import TestSupport
import Testing

@testable import SealedState

/// Tests of attacks on a governed record with all of the group's keys but without the writer's key.
@Suite struct WriterAuthorityTests {
    private let note = Note(text: "from the app", number: 1)

    private func read(_ store: SealedStore, _ name: String = Note.recordName) throws(StoreError) -> Note {
        try store.read(Note.self, named: name)
    }

    @Test func signedRecordIsReadWithItsWriter() throws {
        let sandbox = try WritersSandbox()
        try sandbox.open(as: sandbox.app).write(note)
        let snapshot = try sandbox.open().snapshot(of: Note.self)
        #expect(snapshot.value == note)
        #expect(snapshot.provenance.writer == sandbox.app.id.description)
        #expect(try sandbox.open().list().first?.provenance?.writer == sandbox.app.id.description)
    }

    @Test func unsignedBlobIsNotAuthorizedAndMovesNothing() throws {
        let sandbox = try WritersSandbox()
        let app = try sandbox.open(as: sandbox.app)
        let first = try app.write(note)
        try sandbox.fixture.plant(try sandbox.forged(sandbox.attacker()) { $0.sequence = first + 1 })
        let reader = try sandbox.open()
        #expect(code { _ = try read(reader) } == .notAuthorized)
        #expect(code { _ = try read(app) } == .notAuthorized)
        #expect(try reader.list().first?.rejection?.code == .notAuthorized)
        let place = try reader.places.place(Note.recordName)
        #expect(reader.watermarks.mark(of: place.context.nameTag)?.sequence == first)
        #expect(try app.write(note) == first + 1)
        #expect(try read(reader) == note)
    }

    @Test func honestWriterContinuesAfterAnUnsignedBlobFarAhead() throws {
        let sandbox = try WritersSandbox()
        let app = try sandbox.open(as: sandbox.app)
        let first = try app.write(note)
        for sequence in [first + 1000, 1 << 40, UInt64.max - 2] {
            try sandbox.fixture.plant(try sandbox.forged(sandbox.attacker()) { $0.sequence = sequence })
            #expect(code { _ = try read(app) } == .notAuthorized)
            try app.write(note)
            #expect(try read(sandbox.open()) == note)
        }
        #expect(try app.snapshot(of: Note.self).provenance.sequence == first + 3)
        #expect(try SystemFile.names(sandbox.fixture.quarantine).count == 6)
    }

    @Test func recordAboveTheLimitIsJudgedBeforeItIsReplaced() throws {
        let sandbox = try WritersSandbox()
        try sandbox.open(as: sandbox.app).write(Note(text: String(repeating: "x", count: 200_000), number: 1))
        let app = try sandbox.open(as: sandbox.app) { $0.maximumRecordSize = 100_000 }
        #expect(try app.write(note) == 2)
        // It was no refused blob.
        let quarantine = sandbox.fixture.quarantine
        #expect(try !SystemFile.exists(quarantine) || SystemFile.names(quarantine).isEmpty)
    }

    @Test func clearedFlagIsNotAuthorized() throws {
        let sandbox = try WritersSandbox()
        let app = try sandbox.open(as: sandbox.app)
        try app.write(note)
        let attacker = try sandbox.attacker()
        let (contents, header, _) = try sandbox.plaintext(attacker)
        try sandbox.fixture.plant(
            try sandbox.seal(contents, header, attacker) {
                $0.flags.remove(.signed)
                $0.writer = .none
                $0.sequence += 1
            })
        #expect(code { _ = try read(app) } == .notAuthorized)
    }

    @Test func cutTrailerIsRefused() throws {
        let sandbox = try WritersSandbox()
        let app = try sandbox.open(as: sandbox.app)
        try app.write(Note(text: String(repeating: "x", count: 400)))
        let attacker = try sandbox.attacker()
        let (contents, header, _) = try sandbox.plaintext(attacker)
        try sandbox.fixture.plant(try sandbox.seal(contents, header, attacker) { $0.sequence += 1 })
        // The end of the contents is at the position of the signature.
        #expect(code { _ = try read(app) } == .unsupportedFormat)
        try app.write(note)
        #expect(try read(app) == note)
    }

    @Test func changedFieldsOfASignedRecordAreNotAuthorized() throws {
        let sandbox = try WritersSandbox()
        let app = try sandbox.open(as: sandbox.app)
        try app.write(note)
        let attacker = try sandbox.attacker()
        let (contents, header, trailer) = try sandbox.plaintext(attacker)
        let plaintext = contents + (try #require(trailer)).encoded
        let changes: [(inout BlobDescription) -> Void] = [
            { $0.sequence += 1 }, { $0.schemaVersion -= 1 }, { $0.sealedAt += 1 }, { $0.notAfter = 9_000_000_000_000 },
            { $0.codec = .binaryPropertyList }, { $0.flags.formSymmetricDifference(.unsynced) },
            { $0.writer = sandbox.widget.id },
        ]
        for change in changes {
            try sandbox.fixture.plant(try sandbox.seal(plaintext, header, attacker, change))
            #expect(code { _ = try read(app) } == .notAuthorized)
        }
        // Another name and the same fields, signed by a writer that may write both.
        try app.write(note, named: "accounts/ada")
        try sandbox.fixture.plant(try sandbox.seal(plaintext, header, name: "accounts/ada", attacker), "accounts/ada")
        #expect(code { _ = try read(app, "accounts/ada") } == .notAuthorized)
    }

    @Test(arguments: [true, false])
    func otherContentsUnderTheSameHeaderAreNotAuthorized(isRead: Bool) throws {
        let sandbox = try WritersSandbox()
        let app = try sandbox.open(as: sandbox.app)
        try app.write(note)
        if isRead { #expect(try read(app) == note) }
        let attacker = try sandbox.attacker()
        let (contents, header, trailer) = try sandbox.plaintext(attacker)
        // The same salt gives the same commitment: a reader that remembers commitments would accept it.
        let forged = contents.map { $0 == UInt8(ascii: "1") ? UInt8(ascii: "2") : $0 }
        let blob = try sandbox.seal(forged + (try #require(trailer)).encoded, header, attacker, salt: header.salt)
        #expect(Array(blob[0..<176]) == Array(try sandbox.fixture.blob()[0..<176]))
        try sandbox.fixture.plant(blob)
        #expect(code { _ = try read(app) } == .notAuthorized)
        #expect(code { _ = try read(sandbox.open()) } == .notAuthorized)
    }

    /// A signature that this process has made counts as verified; every other one of the same record is checked.
    @Test func anotherSignatureOfTheSameContentsIsNotAuthorized() throws {
        let sandbox = try WritersSandbox()
        let app = try sandbox.open(as: sandbox.app)
        let first = try app.write(note)
        let attacker = try sandbox.attacker()
        let (contents, header, found) = try sandbox.plaintext(attacker)
        let trailer = try #require(found)
        for index in trailer.signature.indices {
            var signature = trailer.signature
            signature[index] ^= 1
            let other = RecordTrailer(rosterVersion: trailer.rosterVersion, signature: signature)
            try sandbox.fixture.plant(try sandbox.seal(contents + other.encoded, header, attacker, salt: header.salt))
            #expect(code { _ = try read(app) } == .notAuthorized)
        }
        // No rejected signature counts for the next write either.
        #expect(try app.write(note) == first + 1)
        #expect(try read(sandbox.open()) == note)
    }

    @Test func unsignedTombstoneIsNotAuthorized() throws {
        let sandbox = try WritersSandbox()
        let app = try sandbox.open(as: sandbox.app)
        let first = try app.write(note)
        try sandbox.fixture.plant(
            try sandbox.forged(sandbox.attacker()) {
                $0.flags = .tombstone
                $0.codec = .raw
                $0.sequence = first + 1
                $0.payload = .bytes([])
            })
        #expect(code { _ = try read(app) } == .notAuthorized)
        #expect(try app.write(note) == first + 1)
    }

    @Test func signedTombstoneNeedsTheRightToDelete() throws {
        let sandbox = try WritersSandbox()
        let app = try sandbox.open(as: sandbox.app)
        try app.write(note)
        try app.delete(Note.self)
        #expect(code { _ = try read(sandbox.open()) } == .absent)
        #expect(try app.list().first?.isDeleted == true)
        #expect(try sandbox.fixture.blob().count == BlobLayout.blobSize(plaintextSize: RecordTrailer.size))
        try app.purge(named: Note.recordName)
        let widget = try sandbox.open(as: sandbox.widget)
        try widget.write(note, named: "inbox")
        #expect(code { try widget.delete(named: "inbox") } == .notAuthorized)
        #expect(try read(widget, "inbox") == note)
    }

    @Test func writerWithoutTheRightIsRefusedBeforeItWrites() throws {
        let sandbox = try WritersSandbox()
        try sandbox.open(as: sandbox.app).write(note)
        let before = try sandbox.fixture.blob()
        for writer in [sandbox.widget, nil, try WriterKey.random()] {
            let store = try sandbox.open(as: writer)
            #expect(code { try store.write(note) } == .notAuthorized)
            #expect(code { try store.delete(Note.self) } == .notAuthorized)
            #expect(code { try store.purge(named: Note.recordName) } == .notAuthorized)
        }
        #expect(try sandbox.fixture.blob() == before)
    }

    @Test func anotherWritersSignatureIsNotAuthorized() throws {
        let sandbox = try WritersSandbox()
        try sandbox.open(as: sandbox.widget).write(note, named: "inbox")
        let attacker = try sandbox.attacker()
        let (contents, header, _) = try sandbox.plaintext(attacker, "inbox")
        // A compromised extension signs with its own key, under its own id and under the app's.
        for writer in [sandbox.widget.id, sandbox.app.id] {
            var description = BlobDescription(
                record: BlobContext(group: sandbox.fixture.group.identifier, kind: .record, name: Note.recordName),
                flags: header.flags, schemaVersion: header.schemaVersion, sequence: 9, sealedAt: header.sealedAt)
            description.writer = writer
            let digest = contents.withRawBytes {
                SignedRecord(description, group: sandbox.fixture.group.identifier, name: Note.recordName)
                    .digest(rosterVersion: 1, contents: $0)
            }
            let trailer = RecordTrailer(rosterVersion: 1, signature: sandbox.widget.sign(digest))
            try sandbox.fixture.plant(
                try sandbox.seal(contents + trailer.encoded, header, attacker) {
                    $0.sequence = 9
                    $0.writer = writer
                })
            #expect(code { _ = try read(sandbox.open()) } == .notAuthorized)
        }
    }

    @Test func patternGovernsWholeSegmentsOnly() throws {
        let sandbox = try WritersSandbox()
        let anyone = try sandbox.open()
        #expect(code { try anyone.write(note, named: "accounts/ada") } == .notAuthorized)
        #expect(code { try anyone.write(note, named: "accounts/ada/deep") } == .notAuthorized)
        for name in ["accounts", "accountsb", "accountsb/x", "accounts.x", "other"] {
            try anyone.write(note, named: name)
            #expect(try read(anyone, name) == note)
            #expect(try anyone.snapshot(of: Note.self, named: name).provenance.writer == nil)
        }
    }

    @Test func longestPatternCounts() throws {
        let sandbox = try WritersSandbox(roster: nil)
        try sandbox.put(
            sandbox.signed(1) { roster in
                roster.set(Roster.Rule(try GovernedPattern("*"), grants: [sandbox.app.id: .all]))
                roster.set(Roster.Rule(try GovernedPattern("accounts/guest/*"), grants: [sandbox.widget.id: .all]))
                roster.set(Roster.Rule(try GovernedPattern("accounts/guest/root"), grants: [:]))
            })
        let (app, widget) = (try sandbox.open(as: sandbox.app), try sandbox.open(as: sandbox.widget))
        try app.write(note, named: "anything")
        try widget.write(note, named: "accounts/guest/a")
        #expect(code { try app.write(note, named: "accounts/guest/a") } == .notAuthorized)
        #expect(code { try app.write(note, named: "accounts/guest/root") } == .notAuthorized)
        #expect(code { try widget.write(note, named: "accounts/guest/root") } == .notAuthorized)
        // The library's own names are governed only where a pattern names them.
        let lease = try LeaseTable(writer: widget.writer).attempt("refresh", for: .seconds(5), waitedSince: nil)
        guard case .taken = lease else {
            Issue.record("the lease was not taken")
            return
        }
    }

    @Test func goneFileIsMissingUntilItsWriterWrites() throws {
        let sandbox = try WritersSandbox()
        let app = try sandbox.open(as: sandbox.app)
        let first = try app.write(note)
        unlink(sandbox.fixture.file(Note.recordName))
        #expect(code { _ = try read(app) } == .missing)
        #expect(code { _ = try read(sandbox.open()) } == .missing)
        let listed = try app.list().map { ($0.name, $0.rejection?.code) }
        #expect(listed.map(\.0) == [Note.recordName] && listed.map(\.1) == [.missing])
        #expect(try app.write(note) == first + 1)
        #expect(try read(app) == note)
    }

    @Test func contentsOfExactlyTheLimitAreWrittenAndRead() throws {
        let sandbox = try WritersSandbox()
        let size = 70_000
        let app = try sandbox.open(as: sandbox.app) { $0.maximumRecordSize = size }
        let empty = try JSONCodec.encode(Note(text: "")).count
        let full = Note(text: String(repeating: "x", count: size - empty))
        try app.write(full)
        #expect(try read(app) == full)
        #expect(code { try app.write(Note(text: full.text + "x")) } == .tooLarge)
    }

    @Test func examinationNamesTheCheck() throws {
        let sandbox = try WritersSandbox()
        let app = try sandbox.open(as: sandbox.app)
        try app.write(note)
        let fine = try app.examine(Note.recordName) { _, _ in }
        #expect(fine.outcome(of: .authority) == .ok)
        try sandbox.fixture.plant(try sandbox.forged(sandbox.attacker()))
        let examination = try app.examine(Note.recordName) { _, _ in }
        #expect(examination.outcome(of: .authority) == .refused)
        #expect(examination.outcome(of: .order) == .notReached)
    }

    @Test func lastGoodValueIsGivenInPlaceOfAForgedOne() throws {
        let sandbox = try WritersSandbox()
        try sandbox.open(as: sandbox.app).write(note)
        let reader = try sandbox.open { $0.rejectionPolicy = .keepLastGood }
        #expect(try read(reader) == note)
        try sandbox.fixture.plant(try sandbox.forged(sandbox.attacker()) { $0.sequence = 2 })
        let snapshot = try reader.snapshot(of: Note.self)
        #expect(snapshot.value == note && snapshot.rejection?.code == .notAuthorized)
        // The records of a revoked writer have no last good value either.
        try sandbox.put(
            sandbox.signed(2) { roster in
                roster.set(Roster.Writer(sandbox.app.publicKey, label: "app", state: .revoked))
            })
        #expect(code { _ = try reader.snapshot(of: Note.self) } == .notAuthorized)
    }

    @Test func groupWithoutATeamKeyHasNoAuthority() throws {
        let sandbox = try WritersSandbox()
        let store = try sandbox.attacker()
        #expect(store.authority == nil)
        try sandbox.open(as: sandbox.app).write(note)
        let snapshot = try store.snapshot(of: Note.self)
        #expect(snapshot.value == note && snapshot.provenance.writer == nil)
    }
}
