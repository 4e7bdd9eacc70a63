import FoundationEssentials
import Glibc
import SealedState
import Synchronization
import TestSupport
import Testing

/// Two invalid records under a note's name, each for another reason.
private struct BadText: SealedRecord {
    static let recordName = "note"
    static let schemaVersion = 3
    var text: Int
}

private struct BadNumber: SealedRecord {
    static let recordName = "note"
    static let schemaVersion = 3
    var text: String
    var number: String
}

/// An action that runs once, at the next occasion.
private final class Once: Sendable {
    private let action = Mutex<(@Sendable () -> Void)?>(nil)

    func set(_ body: @escaping @Sendable () -> Void) { action.withLock { $0 = body } }

    func run() { action.withLock { $0.take() }?() }
}

/// Tests of events between a look and its consequences.
@Suite("Watching: changes during a check", .timeLimit(.minutes(5)))
struct MissedWatchTests {
    let fixture: StoreFixture

    init() throws { fixture = try StoreFixture() }

    // look | refuses: not yet valid ............. asks when it will be: it is by now
    // time | ......................... has come
    @Test func aBeginningDuringTheCheckIsReported() async throws {
        let clock = TestClock(Date())
        try await fixture.open().write(Note(text: "early"))
        let store = try fixture.open { options in
            options.now = { clock.now }
            options.onRejection = { _ in clock.advance(by: 100) }
        }
        clock.advance(by: -100)
        let updates = Watching(try store.updates(of: Note.self))
        #expect(try await updates.next(\.refusal) == .notYetValid)
        #expect(try await updates.next(\.value?.text) == "early")
    }

    @Test(arguments: [RejectionPolicy.keepLastGood])
    func theSameWithTheLastGoodValueInItsPlace(_ policy: RejectionPolicy) async throws {
        let clock = TestClock(Date())
        let store = try fixture.open { options in
            options.now = { clock.now }
            options.rejectionPolicy = policy
            options.onRejection = { _ in clock.advance(by: 300) }
        }
        try await store.write(Note(text: "good"))
        let updates = Watching(try store.updates(of: Note.self))
        #expect(try await updates.next(\.value?.text) == "good")
        try await fixture.open { $0.now = { clock.now + 250 } }.write(Note(text: "early"))
        let reported = try await updates.next { $0.rejection == nil || $0.value?.text == "early" }
        #expect(reported.value?.text == "early")
    }

    // look    | A is refused ....................... takes the mark: B's
    // another | ............ accepts B, refuses it
    @Test func theRefusalOfABlobThatAnotherThreadAcceptedDuringTheLookIsReported() async throws {
        let during = Once()
        let store = try fixture.open { $0.onRejection = { _ in during.run() } }
        let writer = try fixture.open()
        try await writer.write(BadText(text: 1))
        during.set {
            // Not on this thread, which is in the middle of a read.
            _ = try? concurrently(1) { _ in
                try writer.write(BadNumber(text: "", number: "1"))
                _ = store.readIfValid(Note.self)
            }
        }
        let updates = Watching(try store.updates(of: Note.self))
        let reported = try await updates.next()
        let standing = try #require(refusal { _ = try store.read(Note.self) })
        #expect(reported.refusal == .undecodable)
        #expect(reported.rejection?.reason == standing.reason)
    }

    // watcher | gets 1 | no descriptors: refused | descriptors again: gets 2, without a further change
    @Test func aLackOfDescriptorsIsNotTheLastThingReported() throws {
        let store = try fixture.open()
        try store.write(ProbeRecord(number: 1))
        let words = ["watch", fixture.place.path, fixture.group.identifier, ProbeRecord.recordName, "-"]
        let watcher = try ChildProcess("sealed-probe", words)
        #expect(try word(watcher) == "value")
        try limitFiles(of: watcher, to: 3)
        try store.write(ProbeRecord(number: 2))
        #expect(try word(watcher) == "rejected")
        try limitFiles(of: watcher, to: 1024)
        #expect(try word(watcher) == "value")
    }

    private func word(_ child: ChildProcess) throws -> Substring? { try child.readLine()?.split(separator: " ").first }

    private func limitFiles(of child: ChildProcess, to count: Int) throws {
        let result = try ChildProcess.run("/usr/bin/prlimit", ["--pid=\(child.pid)", "--nofile=\(count):1024"])
        try #require(result.exitCode == 0)
    }

    @Test func aContainerThatOthersMayWriteToIsRefusedUntilItIsRepaired() async throws {
        let store = try fixture.open()
        try await store.write(Note(text: "safe"))
        let updates = Watching(try store.updates(of: Note.self))
        #expect(try await updates.next(\.value?.text) == "safe")
        chmod(fixture.container, 0o777)
        #expect(try await updates.next(\.refusal) == .container)
        chmod(fixture.container, 0o700)
        #expect(try await updates.next(\.value?.text) == "safe")
    }
}
