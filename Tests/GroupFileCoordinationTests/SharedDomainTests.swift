import Glibc
import GroupFileCoordination
import SharedFiles
import TestSupport
import Testing

/// Tests of a domain that two unix users share. Ada and Bob are members of its unix group, Eve is not.
@Suite(.enabled(if: UnixUser.canBecome), .timeLimit(.minutes(10))) struct SharedDomainTests {
    private let place: TemporaryDirectory

    init() throws {
        place = try TemporaryDirectory()
        try #require(chmod(place.path, 0o755) == 0)
        for name in ["domain", "items"] {
            try place.directory(name)
            try #require(chown(place.path(name), 0, UnixUser.team) == 0)
            try #require(chmod(place.path(name), 0o2770) == 0)
        }
        try place.file("items/file", "0", mode: 0o660)
    }

    private func presenter(_ user: UnixUser) throws -> ChildProcess {
        let words = ["present", place.path("domain"), place.path("items/file")]
        return try user.start("sealed-probe", words, umask: "077")
    }

    private func holder(_ user: UnixUser, _ access: String, _ path: String = "items/file") throws -> ChildProcess {
        let words = ["coordinate", place.path("domain"), access, place.path(path), "60000"]
        return try user.start("sealed-probe", words, umask: "077")
    }

    //  bob                     ada
    //                          read
    //  wait to write
    //                          done
    //  write
    @Test func usersThatShareADomainWaitForEachOther() throws {
        let reader = try holder(.ada, "read")
        #expect(try reader.readLine() == "held \(place.path("items/file"))")
        let words = ["coordinate", place.path("domain"), "updating", place.path("items/file"), "0"]
        #expect(try UnixUser.bob.run("sealed-probe", words).outputText.hasPrefix("lockTimeout "))
        let writer = try holder(.bob, "updating")
        try reader.write("\n")
        #expect(try reader.readLine() == "free")
        #expect(try writer.readLine() == "held \(place.path("items/file"))")
    }

    @Test func aMembersPresenterMakesWayForAnother() throws {
        let presenter = try presenter(.ada)
        #expect(try presenter.readLine() == "presenting")
        let writer = try holder(.bob, "updating")
        #expect(try presenter.readLine() == "relinquish to writer")
        #expect(try writer.readLine() == "held \(place.path("items/file"))")
        try writer.write("\n")
        #expect(try writer.readLine() == "free")
        var line = try presenter.readLine()
        while line?.hasPrefix("changed") == true { line = try presenter.readLine() }
        #expect(line == "reacquire from writer")
    }

    // A presenter saves at its item's path, with its own rights, so another user must not choose that path.
    @Test func anotherUserCannotSendAPresenterElsewhere() throws {
        let presenter = try presenter(.ada)
        #expect(try presenter.readLine() == "presenting")
        let words = ["coordinate-move", place.path("domain"), place.path("items/file"), place.path("ada's own")]
        #expect(try UnixUser.bob.run("sealed-probe", words).exitCode == 0)
        #expect(try presenter.readLine()?.hasPrefix("changed") == true)
        #expect(try UnixUser.ada.run("sealed-probe", words).exitCode == 0)
        var line = try presenter.readLine()
        while line?.hasPrefix("changed") == true { line = try presenter.readLine() }
        #expect(line == "moved \(place.path("ada's own"))")
    }

    @Test func aStrangerCannotUseTheDomainOrReachItsPresenters() throws {
        let presenter = try presenter(.ada)
        #expect(try presenter.readLine() == "presenting")
        let words = ["coordinate", place.path("domain"), "updating", place.path("items/file"), "0"]
        let refused = try UnixUser.eve.run("sealed-probe", words)
        #expect(refused.exitCode == 1)
        #expect(refused.outputText.hasPrefix("permissionDenied ") || refused.outputText.hasPrefix("wrongOwner "))
        for name in try SystemFile.names(place.path("domain")) {
            #expect(try SystemFile.mode(place.path("domain/" + name)) == 0o660)
        }
        try presenter.write("remove\n")
        #expect(try presenter.readLine() == "done remove")
    }
}
