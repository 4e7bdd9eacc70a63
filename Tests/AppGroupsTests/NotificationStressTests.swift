import AppGroups
import Glibc
import TestSupport
import Testing

/// Tests with many posters, and with posters that are killed.
@Suite(.timeLimit(.minutes(10))) struct NotificationStressTests {
    private static let changed = NotificationTests.changed

    @Test func theLastPostOfEightProcessesIsReported() async throws {
        let sandbox = try NotificationSandbox()
        let observer = Following(sandbox.center, Self.changed)
        let observation = try observer.start()
        let children = try (0..<8).map { _ in try sandbox.child("post", Self.changed, "500") }
        for child in children { #expect(try child.finish().outputText == "posted\n") }
        #expect(try await observer.reaches(sandbox.center.token(of: Self.changed)))
        #expect(try SystemFile.names(sandbox.path(".notifications")) == [Self.changed])
        observation.cancel()
    }

    //  poster                  test
    //  post, post, post ...
    //                          SIGKILL
    //                          the last token was delivered
    //                          post: delivered
    @Test func aPosterThatIsKilledLosesNothingAndLeavesNothing() async throws {
        let sandbox = try NotificationSandbox()
        let observer = Following(sandbox.center, Self.changed)
        let observation = try observer.start()
        for round in 0..<20 {
            if round % 4 == 0 { #expect(unlink(sandbox.path(".notifications/" + Self.changed)) == 0 || round == 0) }
            let poster = try sandbox.child("post-loop", Self.changed)
            #expect(try poster.readLine() == "started")
            poster.kill(SIGKILL)
            _ = try poster.finish()
            #expect(try await observer.reaches(sandbox.center.token(of: Self.changed)))
            try sandbox.center.post(Self.changed)
            #expect(try await observer.reaches(sandbox.center.token(of: Self.changed)))
        }
        #expect(try SystemFile.names(sandbox.path(".notifications")) == [Self.changed])
        observation.cancel()
    }

    /// A handler that looks at the token only when it is notified.
    private final class Following: Sendable {
        private let center: GroupNotificationCenter
        private let name: String
        private let seen = Seen()

        private actor Seen {
            var token: GroupNotificationToken?
            func see(_ token: GroupNotificationToken?) { self.token = token }
        }

        init(_ center: GroupNotificationCenter, _ name: String) {
            self.center = center
            self.name = name
        }

        func start() throws -> GroupNotificationObservation {
            let (center, name, seen) = (center, name, seen)
            return try center.observe(name) { await seen.see(try? center.token(of: name)) }
        }

        func reaches(_ token: GroupNotificationToken) async throws -> Bool {
            let deadline = ContinuousClock.now + .seconds(300)
            while await seen.token != token {
                if ContinuousClock.now > deadline { return false }
                try await Task.sleep(for: .milliseconds(1))
            }
            return true
        }
    }
}
