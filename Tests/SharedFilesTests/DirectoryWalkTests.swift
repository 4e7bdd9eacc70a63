import Glibc
import SharedFiles
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(10))) struct DirectoryWalkTests {
    private func tree() throws -> Yard {
        let yard = try Yard()
        try yard.place.directory("inside/b")
        try yard.place.directory("inside/b/deep")
        try yard.file("b/deep/file", "1")
        try yard.file("b/file", "12")
        try yard.file("a", "")
        try yard.place.fifo("inside/fifo")
        try yard.place.link("inside/link", to: "../outside")
        try yard.place.link("inside/loop", to: ".")
        return yard
    }

    @Test func entriesAreSortedAndTellTheirKind() throws {
        let yard = try tree()
        let entries = try yard.inside.entries()
        #expect(entries.map(\.name) == ["a", "b", "fifo", "link", "loop"])
        #expect(entries.map(\.kind) == [.regular, .directory, .fifo, .symbolicLink, .symbolicLink])
    }

    @Test func aWalkSeesEverythingAndFollowsNoLink() throws {
        let yard = try tree()
        var seen: [String] = []
        yard.inside.walk(maximumDepth: 8) { entry in
            #expect(entry.error == nil)
            seen.append("\(entry.depth) \(entry.path) \(entry.kind)")
        }
        #expect(
            seen == [
                "1 a regular", "1 b directory", "2 b/deep directory", "3 b/deep/file regular", "2 b/file regular",
                "1 fifo fifo", "1 link symbolicLink", "1 loop symbolicLink",
            ])
    }

    @Test func whatIsTooDeepIsSaidAndNotEntered() throws {
        let yard = try tree()
        var seen: [String: String] = [:]
        yard.inside.walk(maximumDepth: 2) { seen[$0.path] = $0.error?.code.rawValue ?? "fine" }
        #expect(seen["b/deep"] == "tooDeep")
        #expect(seen["b/file"] == "fine")
        #expect(seen["b/deep/file"] == nil)
    }

    @Test func aVisitCanEndTheWalk() throws {
        let yard = try tree()
        var seen: [String] = []
        #expect(throws: CancellationError.self) {
            try yard.inside.walk(maximumDepth: 8) { entry in
                seen.append(entry.path)
                if entry.path == "b" { throw CancellationError() }
            }
        }
        #expect(seen == ["a", "b"])
    }

    @Test func aDirectoryThatGoesAwayMeanwhileIsNotFatal() throws {
        let yard = try tree()
        var seen: [String: String] = [:]
        yard.inside.walk(maximumDepth: 8) { entry in
            seen[entry.path] = entry.error?.code.rawValue ?? "fine"
            // Visited before it is listed; by then it is gone.
            if entry.path == "b/deep" {
                unlink(yard.path("b/deep/file"))
                rmdir(yard.path("b/deep"))
            }
        }
        #expect(seen["b/file"] == "fine")
        #expect(seen["loop"] == "fine")
    }

    @Test(.enabled(if: ChildProcess.canRunUnprivileged, "needs setpriv"))
    func anUnreadableDirectoryIsReportedToAnOrdinaryUser() throws {
        let yard = try tree()
        for path in [yard.place.path, yard.path("")] { try #require(chmod(path, 0o755) == 0) }
        try #require(chmod(yard.path("b"), 0) == 0)
        defer { chmod(yard.path("b"), 0o700) }
        let result = try ChildProcess.runUnprivileged("sealed-probe", ["walk", yard.path("")])
        #expect(result.outputText.split(separator: "\n").contains("b permissionDenied"))
        #expect(result.outputText.split(separator: "\n").contains("loop"))
    }

    @Test func aNameThatIsNoTextIsSeen() throws {
        let yard = try Yard()
        let name: [CChar] = Array(yard.path("").utf8CString.dropLast()) + [-1, 0x61, 0]
        let file = open(name, O_WRONLY | O_CREAT, 0o600)
        try #require(file >= 0)
        close(file)
        #expect(try yard.inside.entries().map(\.nameBytes) == [[0xFF, 0x61]])
        var kinds: [FileKind] = []
        yard.inside.walk(maximumDepth: 2) { kinds.append($0.kind) }
        #expect(kinds == [.regular])
        // Removed by its bytes: the directory's own removal handles only text names.
        unlink(name)
    }
}
