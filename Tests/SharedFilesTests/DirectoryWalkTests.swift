import Glibc
import SharedFiles
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(10))) struct DirectoryWalkTests {
    private func tree() throws -> Sandbox {
        let sandbox = try Sandbox()
        try sandbox.place.directory("inside/b")
        try sandbox.place.directory("inside/b/deep")
        try sandbox.file("b/deep/file", "1")
        try sandbox.file("b/file", "12")
        try sandbox.file("a", "")
        try sandbox.place.fifo("inside/fifo")
        try sandbox.place.link("inside/link", to: "../outside")
        try sandbox.place.link("inside/loop", to: ".")
        return sandbox
    }

    @Test func entriesAreSortedAndShowTheirKind() throws {
        let sandbox = try tree()
        let entries = try sandbox.inside.entries()
        #expect(entries.map(\.name) == ["a", "b", "fifo", "link", "loop"])
        #expect(entries.map(\.kind) == [.regular, .directory, .fifo, .symbolicLink, .symbolicLink])
    }

    @Test func aWalkSeesEverythingAndFollowsNoLink() throws {
        let sandbox = try tree()
        var seen: [String] = []
        sandbox.inside.walk(maximumDepth: 8) { entry in
            #expect(entry.error == nil)
            seen.append("\(entry.depth) \(entry.path) \(entry.kind)")
        }
        #expect(
            seen == [
                "1 a regular", "1 b directory", "2 b/deep directory", "3 b/deep/file regular", "2 b/file regular",
                "1 fifo fifo", "1 link symbolicLink", "1 loop symbolicLink",
            ])
    }

    @Test func tooDeepDirectoriesAreReportedAndNotEntered() throws {
        let sandbox = try tree()
        var seen: [String: String] = [:]
        sandbox.inside.walk(maximumDepth: 2) { seen[$0.path] = $0.error?.code.rawValue ?? "fine" }
        #expect(seen["b/deep"] == "tooDeep")
        #expect(seen["b/file"] == "fine")
        #expect(seen["b/deep/file"] == nil)
    }

    @Test func aVisitCanEndTheWalk() throws {
        let sandbox = try tree()
        var seen: [String] = []
        #expect(throws: CancellationError.self) {
            try sandbox.inside.walk(maximumDepth: 8) { entry in
                seen.append(entry.path)
                if entry.path == "b" { throw CancellationError() }
            }
        }
        #expect(seen == ["a", "b"])
    }

    @Test func aDirectoryThatGoesAwayMeanwhileIsNotFatal() throws {
        let sandbox = try tree()
        var seen: [String: String] = [:]
        sandbox.inside.walk(maximumDepth: 8) { entry in
            seen[entry.path] = entry.error?.code.rawValue ?? "fine"
            // Visited before it is listed; by then it is gone.
            if entry.path == "b/deep" {
                unlink(sandbox.path("b/deep/file"))
                rmdir(sandbox.path("b/deep"))
            }
        }
        #expect(seen["b/file"] == "fine")
        #expect(seen["loop"] == "fine")
    }

    @Test(.enabled(if: ChildProcess.canRunUnprivileged, "needs setpriv"))
    func anUnreadableDirectoryIsReportedToAnOrdinaryUser() throws {
        let sandbox = try tree()
        for path in [sandbox.place.path, sandbox.path("")] { try #require(chmod(path, 0o755) == 0) }
        try #require(chmod(sandbox.path("b"), 0) == 0)
        defer { chmod(sandbox.path("b"), 0o700) }
        let result = try ChildProcess.runUnprivileged("sealed-probe", ["walk", sandbox.path("")])
        #expect(result.outputText.split(separator: "\n").contains("b permissionDenied"))
        #expect(result.outputText.split(separator: "\n").contains("loop"))
    }

    @Test func aNonTextNameIsSeen() throws {
        let sandbox = try Sandbox()
        let name: [CChar] = Array(sandbox.path("").utf8CString.dropLast()) + [-1, 0x61, 0]
        let file = open(name, O_WRONLY | O_CREAT, 0o600)
        try #require(file >= 0)
        close(file)
        #expect(try sandbox.inside.entries().map(\.nameBytes) == [[0xFF, 0x61]])
        var kinds: [FileKind] = []
        sandbox.inside.walk(maximumDepth: 2) { kinds.append($0.kind) }
        #expect(kinds == [.regular])
        // Removed by its bytes: the directory's own removal handles only text names.
        unlink(name)
    }
}
