import AppGroups
import FoundationEssentials
import Glibc
import KeyVault
import Sealing
import TestSupport
import Testing

@testable import SealedState

/// Changes of a mailbox's files by members without keys: no message is delivered twice, reordered or forged.
@Suite(.timeLimit(.minutes(10))) struct MailboxRefusalTests {
    let sandbox: MailSandbox

    init() throws { sandbox = try MailSandbox() }

    private func send(_ texts: ClosedRange<Int>, as producer: String = "app") throws {
        let box = try sandbox.box(producer)
        for number in texts { try box.send(HandedItem("\(number)")) }
    }

    /// Returns the texts of the messages that a new reader takes and acknowledges.
    private func handle() throws -> [String] {
        let box = try sandbox.box(in: sandbox.fixture.open())
        let taken = try box.take()
        try box.acknowledge(taken)
        return taken.map(\.message.text)
    }

    @Test func aSegmentThatIsPutBackChangesNothing() throws {
        try send(1...20)
        let path = sandbox.path("app.1.sealed")
        let segment = try SystemFile.read(path)
        #expect(try handle().count == 20)
        try send(21...22)
        try SystemFile.write(path, segment)
        #expect(try handle() == [])
        try send(23...23)
        #expect(try handle() == ["23"])
    }

    @Test func lostMessagesAreReported() throws {
        try send(1...3)
        try #require(unlink(sandbox.path("app.1.sealed")) == 0)
        try send(4...5)
        let taken = try sandbox.box().take()
        #expect(taken.map(\.message.text) == ["4", "5"] && taken.map(\.lostBefore) == [3, 0])
        #expect(try sandbox.lane()?.handled == 3)
    }

    @Test func aMessageOpensInItsPlaceOnly() throws {
        try send(1...2)
        let segment = try SystemFile.read(sandbox.path("app.1.sealed"))
        for leaf in ["other.1.sealed", "app.2.sealed", "app.100.sealed"] {
            try SystemFile.write(sandbox.path(leaf), segment)
        }
        let other = sandbox.fixture.container + "/Mailboxes/second"
        mkdir(other, 0o700)
        try SystemFile.write(other + "/app.1.sealed", segment)
        let second = try sandbox.store.mailbox(of: HandedItem.self, named: "second")
        #expect(try second.take().isEmpty)
        #expect(try handle() == ["1", "2"])
        try send(3...3)
        #expect(try handle() == ["3"])
    }

    @Test func messagesThatChangePlacesKeepTheirOrder() throws {
        let texts = (1...3).map { String(repeating: "\($0)", count: 600_000) }
        for text in texts { try sandbox.box().send(HandedItem(text)) }
        #expect(try sandbox.segments() == ["app.1.sealed", "app.3.sealed"])
        // Each under the other's name, and the second one's message in front of the first one's.
        let (first, third) = (sandbox.path("app.1.sealed"), sandbox.path("app.3.sealed"))
        let (one, three) = (try SystemFile.read(first), try SystemFile.read(third))
        try SystemFile.write(first, three)
        try SystemFile.write(third, one)
        #expect(try sandbox.box().take().isEmpty)
        let cover = MailSegment.coverSize
        try SystemFile.write(first, Array(one[..<cover]) + Array(three[cover...]) + Array(one[cover...]))
        try SystemFile.write(third, three)
        #expect(try handle() == texts)
    }

    @Test(arguments: [0, 5, 200, 260, 400]) func damageIsALossOfThatMessage(_ offset: Int) throws {
        try send(1...2)
        let path = sandbox.path("app.1.sealed")
        var segment = try SystemFile.read(path)
        segment[offset] ^= 0x40
        try SystemFile.write(path, segment)
        try send(3...3)
        let taken = try sandbox.box().take()
        #expect(taken.last?.message.text == "3")
        #expect(taken.reduce(0) { $0 + $1.lostBefore } + taken.count == 3)
    }

    @Test(arguments: 1...12) func aTornTailIsCut(_ step: Int) throws {
        try send(1...2)
        let path = sandbox.path("app.1.sealed")
        let whole = try SystemFile.read(path)
        let segment = MailSegment(path, whole)
        let start = segment.frames[1].range.lowerBound - MailSegment.frameSize
        let size = start + (whole.count - start) * step / 13
        try SystemFile.write(path, Array(whole[..<size]))
        #expect(try sandbox.box().take().map(\.message.text) == ["1"])
        try send(3...3)
        #expect(MailSegment(path, try SystemFile.read(path)).frames.map(\.number) == [1, 3])
        #expect(try handle() == ["1", "3"])
    }

    /// A system that lost power may leave zeros behind a file's last bytes, or an empty file.
    @Test(arguments: [0, 1, 100, 192]) func whatAPowerLossLeavesIsPassedOver(_ kept: Int) throws {
        try send(1...1)
        let path = sandbox.path("app.1.sealed")
        let whole = try SystemFile.read(path)
        try SystemFile.write(path, Array(whole[..<kept]) + [UInt8](repeating: 0, count: 500))
        try send(2...2)
        #expect(try handle() == ["2"])
    }

    @Test func theRecordOfHandledMessagesIsNeeded() throws {
        try send(1...2)
        #expect(try handle().count == 2)
        let record = sandbox.fixture.file("_sealed/mailboxes/handed")
        let old = try SystemFile.read(record)
        try send(3...3)
        #expect(try handle() == ["3"])
        let present = try SystemFile.read(record)
        try SystemFile.write(record, old)
        #expect(code { _ = try handle() } == .replayed)
        try #require(unlink(record) == 0)
        #expect(code { _ = try handle() } == .missing)
        #expect(code { try send(4...4) } == .missing)
        try SystemFile.write(record, present)
        try send(4...4)
        #expect(try handle() == ["4"])
    }

    /// After a reset without the record, producers continue with their numbers, and nothing counts as lost.
    @Test func aResetLosesNothingThatIsSentLater() throws {
        for number in 0..<40 { try sandbox.store.write(Note(text: "\(number)")) }
        try send(1...3)
        #expect(try handle().count == 3)
        try send(4...4)
        try #require(unlink(sandbox.fixture.file("_sealed/mailboxes/handed")) == 0)
        #expect(code { _ = try handle() } == .missing)
        #expect(try MailboxAccess("handed", in: sandbox.store, .init()).reset() > 0)
        try send(5...5)
        try send(1...1, as: "other")
        let taken = try sandbox.box(in: sandbox.fixture.open()).take()
        #expect(taken.map(\.message.text) == ["5", "1"] && taken.allSatisfy { $0.lostBefore == 0 })
        #expect(taken.first?.id.number == 5)
    }

    @Test func foreignFilesAreNoMessages() throws {
        try send(1...1)
        for leaf in [
            "x", "app.sealed", "app.0.sealed", "app.01.sealed", "app.-1.sealed", ".app.1.sealed", "a b.1.sealed",
        ] {
            try SystemFile.write(sandbox.path(leaf), [1, 2, 3])
        }
        mkdir(sandbox.path("app.7.sealed"), 0o700)
        symlink("app.1.sealed", sandbox.path("app.8.sealed"))
        try SystemFile.write(sandbox.path("app.9.sealed"), [UInt8](repeating: 7, count: 3000))
        try SystemFile.write(sandbox.path("app.10.sealed"), [UInt8](repeating: 7, count: 5 << 20))
        try send(2...2)
        #expect(try handle() == ["1", "2"])
    }

    @Test func aNewerProgramsMessageWaitsForIt() throws {
        try send(1...1)
        let payload = RecordPayload(
            Data(#"{"text":"new"}"#.utf8), codec: .json, schemaVersion: 2, notAfter: 0)
        _ = try MailboxAccess("handed", as: "app", in: sandbox.store, .init()).send(payload)
        try send(3...3)
        #expect(try handle() == ["1"])
        #expect(code { _ = try handle() } == .tooNew)
        #expect(try sandbox.lane()?.handled == 1)
    }

    @Test func anUndecodableMessageIsADeadLetter() throws {
        let payload = RecordPayload(Data(#"{"number":1}"#.utf8), codec: .json, schemaVersion: 1, notAfter: 0)
        _ = try MailboxAccess("handed", as: "app", in: sandbox.store, .init()).send(payload)
        try send(2...2)
        #expect(try handle() == ["2"])
        let letter = try #require(try sandbox.box().deadLetters().first)
        #expect(letter.id.number == 1 && letter.message == nil && letter.reason.hasPrefix("undecodable"))
    }

    @Test func aRotationResealsWhatWaits() throws {
        try send(1...3)
        let box = try sandbox.box()
        let taken = try box.take(upTo: 1)
        try box.send(HandedItem("4"))
        var options = RotationOptions()
        options.durability = .unsynced
        let report = try sandbox.store.rotate(options)
        #expect(report.isCompleted)
        try box.send(HandedItem("5"))
        try box.acknowledge(taken)
        let old = try #require(try sandbox.store.rotationStatus().keys.first { $0.epoch == 1 })
        #expect(old.blobCount == 0)
        try sandbox.store.destroyKey(old.id)
        box.close()
        #expect(try handle() == ["2", "3", "4", "5"])
    }

    /// A segment of before a completed rotation is refused like a record of that time.
    @Test func aSegmentUnderARetiredKeyIsRefused() throws {
        try send(1...2)
        let path = sandbox.path("app.1.sealed")
        let segment = try SystemFile.read(path)
        var options = RotationOptions()
        options.durability = .unsynced
        #expect(try sandbox.store.rotate(options).isCompleted)
        try SystemFile.write(path, segment)
        #expect(try handle() == [])
        try send(3...3)
        #expect(try handle() == ["3"])
    }

    /// A copy of a segment under another number is not made valid by a rotation.
    @Test func aRotationLeavesACopiedSegmentOut() throws {
        try send(1...5)
        let segment = try SystemFile.read(sandbox.path("app.1.sealed"))
        try SystemFile.write(sandbox.path("app.3.sealed"), segment)
        try send(6...7)
        var options = RotationOptions()
        options.durability = .unsynced
        _ = try sandbox.store.rotate(options)
        #expect(try handle() == (1...7).map { "\($0)" })
    }

    @Test func aQuotaRefusesTheProducer() throws {
        try send(1...1)
        try GroupRegistry(sandbox.fixture.group, in: sandbox.fixture.home).setQuota(100_000)
        let large = HandedItem(String(repeating: "x", count: 200_000))
        #expect(code { try sandbox.box().send(large) } == .quotaExceeded)
        #expect(try handle() == ["1"])
    }
}

/// A disk that becomes full while messages are sent.
@Suite(.enabled(if: SmallFileSystem.isPossible, "needs root and the right to mount"), .timeLimit(.minutes(5)))
struct MailboxFullDiskTests {
    @Test func aFullDiskRefusesTheProducerAndLosesNothing() throws {
        let fixture = try StoreFixture()
        let disk = try SmallFileSystem(at: fixture.place.path, options: "size=2m,nr_inodes=200")
        let store = try fixture.open { $0.durability = .durable }
        let box = try store.mailbox(of: HandedItem.self, as: "app")
        let text = String(repeating: "x", count: 100_000)
        var count = 0
        while code({ try box.send(HandedItem(text)) }) == nil { count += 1 }
        #expect((5...20).contains(count))
        // A program that reads goes on: reading makes room.
        let first = try box.take(upTo: 1)
        try disk.fillBytes()
        #expect(code { try box.send(HandedItem(text)) } == .noSpace)
        let taken = first + (try box.take(upTo: count - 2))
        try box.acknowledge(taken)
        try #require(unlink(disk.path + "/fill") == 0)
        try box.send(HandedItem("last"))
        let rest = try box.take()
        #expect(taken.count == count - 1 && rest.count == 2 && rest.last?.message.text == "last")
        #expect((taken + rest).allSatisfy { $0.lostBefore == 0 })
        try box.acknowledge(rest)
    }
}
