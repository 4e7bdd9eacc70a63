import Glibc
import GroupFileCoordination
import SharedFiles
import TestSupport
import Testing

/// Tests of exclusion between real processes. The columns of each comment are the processes, time runs down.
@Suite(.timeLimit(.minutes(10))) struct FileCoordinatorTests {
    private let sandbox: CoordinationSandbox

    init() throws {
        sandbox = try CoordinationSandbox()
        try sandbox.write("file", "0")
    }

    //  test                    other
    //                          read
    //  read: yes; write: no
    //                          done
    //  write: yes
    @Test func readersRunTogetherAndWritersAlone() throws {
        let reader = try sandbox.holding("read", "file")
        #expect(sandbox.code(.reading(sandbox.path("file"))) == nil)
        #expect(sandbox.code(.writing(sandbox.path("file"))) == .lockTimeout)
        try reader.write("\n")
        #expect(try reader.readLine() == "free")
        #expect(sandbox.code(.writing(sandbox.path("file"))) == nil)
        let writer = try sandbox.holding("updating", "file")
        #expect(sandbox.code(.reading(sandbox.path("file"))) == .lockTimeout)
        #expect(sandbox.code(.writing(sandbox.path("other"))) == nil)
        try writer.write("\n")
        #expect(try writer.readLine() == "free")
    }

    struct Pair: Sendable, CustomTestStringConvertible {
        let outer: WritingPurpose
        let excludes: Bool
        var testDescription: String { outer.rawValue }
    }

    static let pairs = WritingPurpose.allCases.map {
        Pair(outer: $0, excludes: [.deleting, .moving, .replacing].contains($0))
    }

    //  test                    other
    //                          read directory/inner
    //  write directory
    //                          done
    //                          write directory
    //  read directory/inner
    @Test(arguments: pairs) func removingADirectoryExcludesUsersOfItsContents(_ pair: Pair) throws {
        try sandbox.place.directory("items/directory")
        let expected: FileError.Code? = pair.excludes ? .lockTimeout : nil
        let reader = try sandbox.holding("read", "directory/inner")
        #expect(sandbox.code(.writing(sandbox.path("directory"), for: pair.outer)) == expected)
        #expect(sandbox.code(.reading(sandbox.path("directory"))) == nil)
        try reader.write("\n")
        #expect(try reader.readLine() == "free")
        let writer = try sandbox.holding(pair.outer.rawValue, "directory")
        #expect(sandbox.code(.reading(sandbox.path("directory/inner"))) == expected)
        #expect(sandbox.code(.writing(sandbox.path("directory/deep/inner"))) == expected)
        #expect(sandbox.code(.reading(sandbox.path("directory"))) == .lockTimeout)
        #expect(sandbox.code(.reading(sandbox.path("directory2/inner"))) == nil)
        try writer.write("\n")
        #expect(try writer.readLine() == "free")
    }

    //  first                   second
    //  a, b, c                 c, b, a
    //  repeatedly              repeatedly
    @Test func oppositeOrdersNeverWaitForEachOtherForEver() throws {
        let paths = ["a", "b", "c"].map { sandbox.path($0) }
        for path in paths { try SystemFile.write(path, Array("0".utf8)) }
        let words = ["coordinate-count", sandbox.place.path("domain"), "150"]
        let children = try [
            ChildProcess("sealed-probe", words + paths), ChildProcess("sealed-probe", words + paths.reversed()),
            ChildProcess("sealed-probe", words + [paths[1], paths[0]]),
        ]
        for child in children { #expect(try child.finish(timeLimit: .seconds(300)).exitCode == 0) }
        #expect(try ["a", "b", "c"].map { try sandbox.text($0) } == ["450", "450", "300"])
    }

    @Test func aHolderThatDiesFreesItsAccess() throws {
        let writer = try sandbox.holding("updating", "file")
        #expect(sandbox.code(.reading(sandbox.path("file"))) == .lockTimeout)
        writer.kill(SIGKILL)
        #expect(sandbox.code(.reading(sandbox.path("file")), milliseconds: 50_000) == nil)
    }

    @Test func aStoppedHolderCostsATimeOutAndNoHang() throws {
        let writer = try sandbox.holding("updating", "file")
        writer.kill(SIGSTOP)
        try writer.waitUntilStopped()
        #expect(sandbox.code(.reading(sandbox.path("file")), milliseconds: 50) == .lockTimeout)
        writer.kill(SIGCONT)
    }

    //  test                    waiter
    //  write
    //                          wait to read old
    //  rename old to new
    //  done
    //                          read new
    @Test func anItemThatIsMovedDuringTheWaitIsReadAtItsNewPath() throws {
        let waiter = try sandbox.coordinator().coordinate(writingItemAt: sandbox.path("file"), for: .moving) { path in
            Result {
                let waiter = try sandbox.holder("read", "file")
                while !isWaiting(waiter) { usleep(1000) }
                try #require(rename(path, sandbox.path("moved")) == 0)
                return waiter
            }
        }.get()
        #expect(try waiter.readLine() == "held \(sandbox.path("moved"))")
        #expect(sandbox.code(.writing(sandbox.path("moved"))) == .lockTimeout)
    }

    /// Returns whether the waiter is in its loop, that is, has the lock file open.
    private func isWaiting(_ child: ChildProcess) -> Bool {
        let names = (try? SystemFile.names("/proc/\(child.pid)/fd")) ?? []
        let lock = sandbox.place.path("domain/.lock")
        return names.contains { (try? SystemFile.linkTarget("/proc/\(child.pid)/fd/\($0)")) == lock }
    }

    @Test func aLinkInTheWayIsResolvedAndOneUnderTheNameOnlyIfAsked() throws {
        try sandbox.place.directory("items/real")
        try sandbox.place.link("items/way", to: "real")
        try sandbox.place.link("items/name", to: "file")
        let coordinator = sandbox.coordinator()
        #expect(try coordinator.coordinate(readingItemAt: sandbox.path("way/new")) { $0 } == sandbox.path("real/new"))
        #expect(try coordinator.coordinate(readingItemAt: sandbox.path("name")) { $0 } == sandbox.path("name"))
        let resolved = try coordinator.coordinate(readingItemAt: sandbox.path("name"), options: .resolvesSymbolicLink) {
            $0
        }
        #expect(resolved == sandbox.path("file"))
    }

    @Test(arguments: ["", "/no\0name", "/missing/..", String(repeating: "/long", count: 1000)])
    func aPathThatNamesNothingIsRefused(_ path: String) {
        #expect(sandbox.code(.reading(path)) == .invalidName)
    }

    @Test func anEmptyOrHugeListIsRefused() {
        #expect(sandbox.code([]) == .tooLarge)
        #expect(sandbox.code((0..<65).map { .reading(sandbox.path("\($0)")) }) == .tooLarge)
    }

    @Test func aCoordinatorNeverWaitsForItself() throws {
        let coordinator = sandbox.coordinator()
        let path = sandbox.path("file")
        let code = try coordinator.coordinate(readingItemAt: path) { path in
            let inner = sandbox.code(.writing(path), by: coordinator)
            // The outer reading is still in effect.
            #expect(sandbox.code(.writing(path)) == .lockTimeout)
            #expect(sandbox.code(.reading(path)) == nil)
            return inner
        }
        #expect(code == nil)
        try coordinator.coordinate(writingItemAt: path) { path in
            #expect(sandbox.code(.reading(path), by: coordinator) == nil)
            #expect(sandbox.code(.reading(path)) == .lockTimeout)
        }
        #expect(sandbox.code(.writing(path)) == nil)
    }

    @Test func aNestedWriterWaitsForOtherReaders() throws {
        let coordinator = sandbox.coordinator()
        let reader = try sandbox.holding("read", "file")
        try coordinator.coordinate(readingItemAt: sandbox.path("file")) { path in
            #expect(sandbox.code(.writing(path), by: coordinator) == .lockTimeout)
        }
        try reader.write("\n")
        #expect(try reader.readLine() == "free")
    }

    @Test func cancellingEndsTheWaitingAndAllThatComesLater() throws {
        let writer = try sandbox.holding("updating", "file")
        let coordinator = sandbox.coordinator()
        let outcomes = try concurrently(2) { index -> FileError.Code? in
            if index == 1 {
                coordinator.cancel()
                return FileError.Code.cancelled
            }
            return sandbox.code(.reading(sandbox.path("file")), milliseconds: 600_000, by: coordinator)
        }
        #expect(try outcomes.map { try $0.get() } == [.cancelled, .cancelled])
        try writer.write("\n")
        #expect(try writer.readLine() == "free")
        #expect(sandbox.code(.reading(sandbox.path("file")), by: coordinator) == .cancelled)
    }

    @Test func aCancelledTaskStopsWaiting() async throws {
        let writer = try sandbox.holding("updating", "file")
        let coordinator = sandbox.coordinator()
        let path = sandbox.path("file")
        let task = Task {
            do throws(FileError) {
                try await coordinator.coordinate(readingItemAt: path, timeout: .seconds(600)) { _ async in }
                return nil as FileError.Code?
            } catch {
                return error.code
            }
        }
        task.cancel()
        #expect(await task.value == .cancelled)
        try writer.write("\n")
        #expect(try writer.readLine() == "free")
        let answer = try await coordinator.coordinate(writingItemAt: path) { path async in
            await Task.yield()
            return sandbox.code(.reading(path))
        }
        #expect(answer == .lockTimeout)
        #expect(sandbox.code(.reading(path)) == nil)
    }

    @Test func anAccessorsErrorComesThroughAndEndsTheAccess() throws {
        #expect(throws: FileError(.noSpace, operation: "try", path: "p")) {
            try sandbox.coordinator().coordinate(writingItemAt: sandbox.path("file")) { (_) throws(FileError) in
                throw FileError(.noSpace, operation: "try", path: "p")
            }
        }
        #expect(sandbox.code(.writing(sandbox.path("file"))) == nil)
    }

    @Test func thousandsOfAccessesLeaveNoDescriptorOpen() throws {
        let presenter = NotingPresenter(sandbox.path("file"))
        try FileCoordinator.addFilePresenter(presenter, domain: sandbox.domain)
        defer { FileCoordinator.removeFilePresenter(presenter, domain: sandbox.domain) }
        let other = try sandbox.presenter("file")
        #expect(sandbox.code(.writing(sandbox.path("file")), milliseconds: 60_000) == nil)
        // The other side closes its end a moment later than this one.
        let before = try SystemFile.names("/proc/\(other.pid)/fd").count
        let own = try openSockets()
        for _ in 0..<1000 {
            _ = sandbox.code([.reading(sandbox.path("file")), .writing(sandbox.path("a"))], milliseconds: 60_000)
            _ = sandbox.code(.reading(sandbox.path("b")))
        }
        #expect(try openSockets() == own)
        #expect(try SystemFile.names(sandbox.place.path("domain")).count == 5)
        while try SystemFile.names("/proc/\(other.pid)/fd").count > before { usleep(1000) }
    }

    /// Returns the number of sockets that this process has open in the domain, or of its sockets there; other tests
    /// have theirs.
    private func openSockets() throws -> Int {
        try SystemFile.names("/proc/self/fd").count { name in
            (try? SystemFile.linkTarget("/proc/self/fd/\(name)"))?.hasPrefix(sandbox.place.path("domain/.")) ?? false
        }
    }
}
