import Glibc
import SharedFiles
import TestSupport
import Testing

@testable import AppGroups

/// Tests of the notifications that an observer gets.
@Suite(.timeLimit(.minutes(10))) struct NotificationTests {
    static let changed = "com.example.app.changed"

    private let sandbox: NotificationSandbox
    private var center: GroupNotificationCenter { sandbox.center }

    init() throws { sandbox = try NotificationSandbox() }

    /// Waits until everything that was posted before has been delivered or dropped.
    private func settle() async throws {
        let counter = NotificationCounter()
        let observation = try center.observe("marker", counter)
        try center.post("marker")
        #expect(try await counter.more(than: 0))
        observation.cancel()
    }

    @Test func anObserverIsNotifiedOfItsOwnProcessesPosts() async throws {
        let counter = NotificationCounter()
        let observation = try center.observe(Self.changed, counter)
        for round in 0..<20 {
            let before = counter.count
            try center.post(Self.changed)
            #expect(try await counter.more(than: before), "round \(round)")
        }
        observation.cancel()
    }

    @Test func anObserverIsNotifiedOfAnotherProcessesPosts() async throws {
        let counter = NotificationCounter()
        let observation = try center.observe(Self.changed, counter)
        for _ in 0..<5 {
            let before = counter.count
            try sandbox.post(Self.changed)
            #expect(try await counter.more(than: before))
        }
        observation.cancel()
    }

    @Test func anotherProcessIsNotifiedOfOurPosts() throws {
        let observer = try sandbox.child("observe", Self.changed)
        #expect(try observer.readLine() == "observing")
        for _ in 0..<5 {
            try center.post(Self.changed)
            #expect(try observer.readLine() == "notified")
        }
        #expect(try observer.finish().exitCode == 0)
    }

    @Test func earlierPostsAreNotReported() async throws {
        try center.post(Self.changed)
        let counter = NotificationCounter()
        let observation = try center.observe(Self.changed, counter)
        try await settle()
        #expect(counter.count == 0)
        try center.post(Self.changed)
        #expect(try await counter.more(than: 0))
        observation.cancel()
    }

    @Test func anObserverOfAnotherNameIsNotNotified() async throws {
        let counter = NotificationCounter()
        let observations = try ["com.example.app", "com.example.app.changed.more", "COM.example.app.changed", "%63om"]
            .map { try center.observe($0, counter) }
        for _ in 0..<10 { try center.post(Self.changed) }
        try await settle()
        #expect(counter.count == 0)
        observations.forEach { $0.cancel() }
    }

    @Test func postsBecomeOneWhileTheHandlerIsBusy() async throws {
        let (counter, gate) = (NotificationCounter(), NotificationCounter())
        let observation = try center.observe(Self.changed) {
            counter.increment()
            _ = try? await gate.more(than: 0)
        }
        try center.post(Self.changed)
        #expect(try await counter.more(than: 0))
        for _ in 0..<50 { try center.post(Self.changed) }
        try await settle()
        #expect(counter.count == 1)
        gate.increment()
        #expect(try await counter.more(than: 1))
        try await settle()
        #expect(counter.count == 2)
        observation.cancel()
    }

    @Test func aSequenceHoldsOnePostForASlowConsumer() async throws {
        var iterator = try center.notifications(named: Self.changed).makeAsyncIterator()
        for _ in 0..<50 { try center.post(Self.changed) }
        try await settle()
        #expect(await iterator.next() != nil)
        try center.post(Self.changed)
        #expect(await iterator.next() != nil)
    }

    @Test func aSequenceEndsWithItsTask() async throws {
        let center = center
        let task = Task {
            var count = 0
            for await _ in try center.notifications(named: Self.changed) { count += 1 }
            return count
        }
        task.cancel()
        #expect(try await task.value == 0)
    }

    @Test func afterACancelNothingIsReported() async throws {
        let counter = NotificationCounter()
        let observation = try center.observe(Self.changed, counter)
        try center.post(Self.changed)
        #expect(try await counter.more(than: 0))
        observation.cancel()
        let before = counter.count
        for _ in 0..<20 { try center.post(Self.changed) }
        try await settle()
        #expect(counter.count == before)
    }

    @Test func anObservationThatIsLetGoEnds() async throws {
        let counter = NotificationCounter()
        do { _ = try center.observe(Self.changed, counter) }
        try center.post(Self.changed)
        try await settle()
        #expect(counter.count == 0)
    }

    @Test func aTokenChangesWithEachPostAndOtherwiseNot() throws {
        let before = try center.token(of: Self.changed)
        #expect(try center.token(of: Self.changed) == before)
        try center.post(Self.changed)
        let after = try center.token(of: Self.changed)
        #expect(after != before)
        #expect(try center.token(of: Self.changed) == after)
        try center.post("other")
        #expect(try center.token(of: Self.changed) == after)
        try sandbox.post(Self.changed)
        #expect(try center.token(of: Self.changed) != after)
    }

    // MARK: Names

    static let names: [(String, String)] = [
        ("com.example.app_1-changed", "com.example.app_1-changed"),
        (".hidden", "%2Ehidden"),
        ("..", "%2E."),
        ("a/b\0c", "a%2Fb%00c"),
        ("%41", "%2541"),
        ("\u{E9}", "%C3%A9"),
        ("e\u{301}", "e%CC%81"),
        (String(repeating: "x", count: 128), String(repeating: "x", count: 128)),
        (String(repeating: "/", count: 68) + "xx", String(repeating: "%2F", count: 68) + "xx"),
    ]

    @Test(arguments: names) func aNameHasAFileOfItsOwn(_ name: String, _ file: String) async throws {
        #expect(try NotificationName(name).fileName == file)
        try await expectTold(of: name)
        #expect(try SystemFile.names(sandbox.path(".notifications")).contains(file))
    }

    @Test(arguments: [69, 100, 128]) func aLongNameOfUnusualCharactersHasAFileAsWell(_ count: Int) async throws {
        let name = String(repeating: "/", count: count)
        let file = try NotificationName(name).fileName
        #expect(file.utf8.count == 1 + (count * 8 + 4) / 5)
        #expect(file.hasPrefix("=5sniubpf5sniubpf"))
        try await expectTold(of: name)
        #expect(try SystemFile.names(sandbox.path(".notifications")).contains(file))
    }

    @Test(arguments: [0, 129]) func aNameHasOneToAHundredAndTwentyEightBytes(_ count: Int) throws {
        let name = String(repeating: "x", count: count)
        #expect(groupError { try center.post(name) }?.code == .invalidNotificationName)
        #expect(groupError { _ = try center.token(of: name) }?.code == .invalidNotificationName)
        #expect(groupError { _ = try center.observe(name) {} }?.code == .invalidNotificationName)
        #expect(groupError { _ = try center.notifications(named: name) }?.code == .invalidNotificationName)
    }

    private func expectTold(of name: String) async throws {
        let counter = NotificationCounter()
        let observation = try center.observe(name, counter)
        try center.post(name)
        #expect(try await counter.more(than: 0))
        observation.cancel()
    }
}
