import AppGroups
import Glibc
import Synchronization
import SystemPackage
import TestSupport
import Testing

/// A home with one group, its center, and children that post and observe there.
final class NotificationSandbox: Sendable {
    let temporary: TemporaryHome
    let group: AppGroup
    let center: GroupNotificationCenter

    init(creating: Bool = true) throws {
        temporary = try TemporaryHome()
        group = try AppGroup("group.notes")
        center = try GroupNotificationCenter(group: group, in: temporary.home, creating: creating)
    }

    var root: String { temporary.home.containersPath.removingLastComponent().string }

    func path(_ relative: String = "") -> String { temporary.path(group, relative) }

    func child(_ command: String, _ arguments: String...) throws -> ChildProcess {
        try ChildProcess("sealed-probe", ["notification-" + command, root, group.identifier] + arguments)
    }

    func post(_ name: String, count: Int = 1) throws {
        #expect(try child("post", name, "\(count)").finish().outputText == "posted\n")
    }
}

/// A counter of an observer's notifications, which a test can wait for.
final class NotificationCounter: Sendable {
    private let number = Atomic(0)

    var count: Int { number.load(ordering: .sequentiallyConsistent) }

    func increment() { number.add(1, ordering: .sequentiallyConsistent) }

    /// Waits for more notifications than that; the limit is far beyond the needs of any machine.
    func more(than count: Int) async throws -> Bool {
        let deadline = ContinuousClock.now + .seconds(300)
        while self.count <= count {
            if ContinuousClock.now > deadline { return false }
            try await Task.sleep(for: .milliseconds(1))
        }
        return true
    }
}

extension GroupNotificationCenter {
    func observe(_ name: String, _ counter: NotificationCounter) throws(AppGroupError) -> GroupNotificationObservation {
        try observe(name) { counter.increment() }
    }
}

/// Returns the error of a body that must fail with one.
func groupError(_ body: () throws -> Void, sourceLocation: SourceLocation = #_sourceLocation) -> AppGroupError? {
    #expect(throws: AppGroupError.self, sourceLocation: sourceLocation) { try body() }
}
