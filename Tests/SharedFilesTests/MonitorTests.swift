import FileMonitoring
import Glibc
import SharedFiles
import Synchronization
import TestSupport
import Testing

/// Tests of every kind of change: it is reported, and the monitor follows the changed path.
@Suite(.timeLimit(.minutes(10))) struct MonitorTests {
    private let sandbox: Sandbox
    private let monitor = FileMonitor()
    private let calls = MonitorCalls()

    init() throws {
        sandbox = try Sandbox()
        try MonitoredChange.tree(in: sandbox)
    }

    private func changed(sourceLocation: SourceLocation = #_sourceLocation, _ body: () throws -> Void) rethrows {
        calls.reset()
        try body()
        #expect(calls.wait(), sourceLocation: sourceLocation)
    }

    // MARK: Notified changes

    @Test(arguments: MonitoredChange.allCases, MonitoredChange.paths)
    func aChangeAndTheNextOneAreReported(_ change: MonitoredChange, _ path: String) throws {
        let registration = try monitor.watch(sandbox.path(path), calls)
        try changed { try change.make(in: sandbox) }
        // Until the path is whole again every step of the repair has an event; only the last write is checked here.
        try MonitoredChange.repair(sandbox)
        try settle()
        try changed { try sandbox.inside.replace("a/b/c/file", with: "last") }
        try settle()
        try changed { try expectZero(unlink(sandbox.path("a/b/c/file"))) }
        registration.cancel()
    }

    /// Waits for a marker's event. Events come in order, so every earlier one has been delivered.
    private func settle() throws {
        let marker = MonitorCalls()
        let registration = try monitor.watch(sandbox.path("marker"), marker)
        try sandbox.file("marker", "")
        #expect(marker.wait())
        registration.cancel()
        unlink(sandbox.path("marker"))
    }

    @Test func everyMissingDirectoryMayComeLater() throws {
        let registration = try monitor.watch(sandbox.path("x/y/z/file"), calls)
        for name in ["x", "x/y", "x/y/z"] {
            try changed { try sandbox.place.directory("inside/" + name) }
            try settle()
        }
        try changed { try sandbox.file("x/y/z/file", "") }
        registration.cancel()
    }

    @Test func aTreeThatIsMovedIntoPlaceIsFollowed() throws {
        let registration = try monitor.watch(sandbox.path("x/b/c/file"), calls)
        try changed { try move("a", "x", sandbox) }
        try settle()
        try changed { try sandbox.inside.replace("x/b/c/file", with: "new") }
        try settle()
        // Moved away and back: the same directories, with their old watches.
        try changed { try move("x", "y", sandbox) }
        try settle()
        try changed { try move("y", "x", sandbox) }
        try settle()
        try changed { try sandbox.inside.replace("x/b/c/file", with: "new") }
        registration.cancel()
    }

    @Test func changesInAMovedDirectoryAreNotReported() throws {
        let registration = try monitor.watch(sandbox.path("a/b/c/file"), calls)
        try changed { try move("a/b", "moved", sandbox) }
        try settle()
        calls.reset()
        try sandbox.inside.replace("moved/c/file", with: "new")
        try settle()
        #expect(calls.count == 0)
        try changed { try move("moved", "a/b", sandbox) }
        registration.cancel()
    }

    @Test func aLinkOnTheWayMayBePointedElsewhere() throws {
        let registration = try monitor.watch(sandbox.path("way/c/file"), calls)
        try sandbox.place.link("inside/second", to: "spare")
        try changed { try move("second", "way", sandbox) }
        try settle()
        try changed { try sandbox.inside.replace("spare/c/file", with: "new") }
        try settle()
        calls.reset()
        try sandbox.inside.replace("a/b/c/file", with: "new")
        try settle()
        #expect(calls.count == 0)
        registration.cancel()
    }

    @Test func aCircleOfLinksIsNothingAndItsEndIsReported() throws {
        try sandbox.place.link("inside/one", to: "two")
        try sandbox.place.link("inside/two", to: "one")
        let registration = try monitor.watch(sandbox.path("one/c/file"), calls)
        try sandbox.place.link("inside/three", to: "a/b")
        try changed { try move("three", "two", sandbox) }
        try settle()
        try changed { try sandbox.inside.replace("a/b/c/file", with: "new") }
        registration.cancel()
    }

    @Test func theEntriesOfAWatchedDirectoryCount() throws {
        let registration = try monitor.watch(sandbox.path("a/b/c"), calls)
        try changed { try sandbox.file("a/b/c/more", "") }
        try settle()
        try changed { try sandbox.file("a/b/c/more", "text") }
        try settle()
        try changed { try expectZero(unlink(sandbox.path("a/b/c/more"))) }
        try settle()
        try changed { try move("a/b/c", "away", sandbox) }
        try settle()
        try changed { try move("spare/c", "a/b/c", sandbox) }
        try settle()
        try changed { try sandbox.file("a/b/c/more", "") }
        registration.cancel()
    }

    @Test func aLinkUnderThePathsOwnNameIsNotFollowed() throws {
        let registration = try monitor.watch(sandbox.path("way"), calls)
        try sandbox.file("a/b/more", "")
        try settle()
        #expect(calls.count == 0)
        try changed { try expectZero(unlink(sandbox.path("way"))) }
        registration.cancel()
    }

    // MARK: Ignored changes

    @Test func aBusyDirectoryDoesNotWakeWatchersOfOtherNames() throws {
        let registration = try monitor.watch(sandbox.path("a/b/c/file"), calls)
        for number in 0..<200 {
            try sandbox.inside.replace("a/b/c/other", with: "\(number)")
            try sandbox.file("a/b/c/.file.new\(number)", "")
            try sandbox.file("a/b/neighbour", "\(number)")
            try sandbox.file("\(number)", "")
            chmod(sandbox.path("\(number)"), 0o400)
        }
        try settle()
        #expect(calls.count == 0)
        try changed { try sandbox.inside.replace("a/b/c/file", with: "new") }
        registration.cancel()
    }

    /// The names are equal as `String`s.
    @Test func namesAreBytes() throws {
        let registration = try monitor.watch(sandbox.path("\u{E9}"), calls)
        try sandbox.file("e\u{301}", "")
        try settle()
        #expect(calls.count == 0)
        try changed { try sandbox.file("\u{E9}", "") }
        registration.cancel()
    }

    @Test(arguments: ["", "a/b", "./a", "/a\0b"]) func onlyAbsolutePathsAreWatched(_ path: String) throws {
        #expect(fileError { _ = try monitor.watch(path) { _ in } }?.code == .invalidName)
    }

    @Test func theRootItselfMayBeWatched() throws {
        let registration = try monitor.watch("/", calls)
        registration.cancel()
    }

    @Test func aNameThatIsTooLongForTheSystemIsNothing() throws {
        let name = String(repeating: "n", count: 300)
        let registration = try monitor.watch(sandbox.path("a/\(name)/file"), calls)
        try changed { try move("a", "b", sandbox) }
        registration.cancel()
    }
}
