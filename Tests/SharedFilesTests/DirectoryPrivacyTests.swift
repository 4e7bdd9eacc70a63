import Glibc
import SharedFiles
import TestSupport
import Testing

@Suite struct DirectoryPrivacyTests {
    @Test(arguments: [0o700, 0o750, 0o755, 0o2750] as [UInt32])
    func aDirectoryThatOnlyItsOwnerWritesIsPrivate(_ mode: UInt32) throws {
        let place = try TemporaryDirectory()
        let directory = try Directory.open(try place.directory("a", mode: mode))
        try directory.requirePrivate()
    }

    @Test(arguments: [0o720, 0o770, 0o702, 0o707, 0o777, 0o1777, 0o2770] as [UInt32])
    func aDirectoryThatOthersWriteIsRefused(_ mode: UInt32) throws {
        let place = try TemporaryDirectory()
        let directory = try Directory.open(try place.directory("it's", mode: mode))
        let error = fileError { try directory.requirePrivate() }
        #expect(error?.code == .unsafeMode)

        // The advice is a command that works unchanged, for any path.
        let command = String((error?.advice ?? "").split(separator: ": ", maxSplits: 1).last ?? "")
        #expect(try ChildProcess.run("/bin/sh", ["-c", command]).exitCode == 0)
        try directory.requirePrivate()
    }

    @Test(.enabled(if: geteuid() == 0, "only root can give directories away"))
    func aDirectoryOfAnotherUserIsRefused() throws {
        let place = try TemporaryDirectory()
        let directory = try Directory.open(try place.directory("a"))
        try #require(chown(place.path("a"), 4321, 0) == 0)
        #expect(fileError { try directory.requirePrivate() }?.code == .wrongOwner)
    }

    @Test func aWorldWritableAncestorIsRefusedUnlessSticky() throws {
        let place = try TemporaryDirectory()
        try place.directory("a", mode: 0o777)
        let directory = try Directory.open(try place.directory("a/b"))
        #expect(fileError { try directory.requireSafeAncestors() }?.code == .unsafeMode)
        #expect(fileError { try directory.requireSafeAncestors() }?.path == place.path("a"))
        try #require(chmod(place.path("a"), 0o1777) == 0)
        try directory.requireSafeAncestors()
        try #require(chmod(place.path("a"), 0o755) == 0)
        try directory.requireSafeAncestors()
        // The directory's own mode belongs to the other check.
        try #require(chmod(place.path("a/b"), 0o777) == 0)
        try directory.requireSafeAncestors()
    }

    @Test(.enabled(if: geteuid() == 0, "only root can give directories away"))
    func anAncestorOfAnotherUserIsRefusedEvenWhenSticky() throws {
        let place = try TemporaryDirectory()
        try place.directory("a", mode: 0o1777)
        let directory = try Directory.open(try place.directory("a/b"))
        try #require(chown(place.path("a"), 4321, 0) == 0)
        #expect(fileError { try directory.requireSafeAncestors() }?.code == .wrongOwner)
        #expect(fileError { try directory.requireSafeAncestors() }?.path == place.path("a"))
    }
}
