import AppGroups
import Glibc
import Synchronization
import SystemPackage
import TestSupport
import Testing

/// A home with one group, its center, and children that post and observe there.
final class NotificationYard: Sendable {
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

/// How often an observer was told, for whoever waits for it.
final class Told: Sendable {
    private let number = Atomic(0)

    var count: Int { number.load(ordering: .sequentiallyConsistent) }

    func tell() { number.add(1, ordering: .sequentiallyConsistent) }

    /// Whether it is told more often than that; the limit is far beyond what any machine needs.
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
    func observe(_ name: String, _ told: Told) throws(AppGroupError) -> GroupNotificationObservation {
        try observe(name) { told.tell() }
    }
}

/// The error of a body that must fail with one.
func groupError(_ body: () throws -> Void, sourceLocation: SourceLocation = #_sourceLocation) -> AppGroupError? {
    #expect(throws: AppGroupError.self, sourceLocation: sourceLocation) { try body() }
}
