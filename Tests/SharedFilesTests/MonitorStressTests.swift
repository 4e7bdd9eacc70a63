import FileMonitoring
import Glibc
import SharedFiles
import Synchronization
import TestSupport
import Testing

/// Tests that no change is missed, for any change of the tree and any backlog of the monitor.
@Suite(.timeLimit(.minutes(10))) struct MonitorStressTests {
    private let sandbox: Sandbox
    private let monitor = FileMonitor()

    init() throws { sandbox = try Sandbox() }

    /// A reader that only looks when it is called.
    private final class Reader: Sendable {
        private let path: String
        private let values: Mutex<(last: String, isRescanned: Bool)> = Mutex(("", false))

        init(_ path: String) { self.path = path }

        var last: String { values.withLock { $0.last } }
        var isRescanned: Bool { values.withLock { $0.isRescanned } }

        func look(_ event: MonitorEvent) {
            let text = (try? SystemFile.read(path)).map { String(decoding: $0, as: UTF8.self) }
            values.withLock { values in
                if let text { values.last = text }
                if event == .rescan { values.isRescanned = true }
            }
        }
    }

    //  child                                      monitor's thread
    //  rename, remove, link, make at random       walk the way again, call
    //  put a new value in place                   call; look
    //                                             ... the value is seen, or one call was missing
    @Test(arguments: 1...4) func theLastValueIsSeenHoweverItGotThere(_ seed: Int) throws {
        let reader = Reader(sandbox.path("a/b/c/file"))
        let child = try ChildProcess("sealed-probe", ["monitor-churn", sandbox.path(""), "\(seed)"])
        let registration = try monitor.watch(sandbox.path("a/b/c/file")) { reader.look($0) }
        for round in 0..<60 {
            try child.write("next\n")
            let value = try #require(try child.readLine())
            try #require(eventually { reader.last == value }, "round \(round): \(reader.last), not \(value)")
        }
        #expect(!reader.isRescanned)
        registration.cancel()
    }

    @Test(arguments: strategies) func everyReplaceOfAnotherProcessIsSeen(_ strategy: TemporaryStrategy) throws {
        let reader = Reader(sandbox.path("file"))
        let registration = try monitor.watch(sandbox.path("file")) { reader.look($0) }
        let name = strategy == .anonymous ? "anonymous" : "named"
        let child = try ChildProcess("sealed-probe", ["replace", sandbox.path(""), "file", "1", name, "unsynced"])
        #expect(try child.readLine() == "started")
        for _ in 0..<20 {
            child.kill(SIGSTOP)
            try child.waitUntilStopped()
            let value = try sandbox.text("file")
            #expect(eventually { reader.last == value })
            child.kill(SIGCONT)
        }
        child.kill(SIGKILL)
        _ = try child.finish()
        let value = try sandbox.text("file")
        #expect(eventually { reader.last == value })
        registration.cancel()
    }

    //  test                              monitor's thread
    //  make `held`                       held in a handler
    //  more events than the queue holds
    //  move the directory, make another
    //  let go                            overflow: every way again, every handler once more
    @Test func anOverflowIsARescanForEveryWatcher() throws {
        try sandbox.place.directory("inside/a")
        let gate = Gate()
        let holder = try monitor.watch(sandbox.path("held")) { _ in gate.pass() }
        let reader = Reader(sandbox.path("a/file"))
        let registration = try monitor.watch(sandbox.path("a/file")) { reader.look($0) }
        let untouched = MonitorCalls()
        let other = try monitor.watch(sandbox.path("untouched/by/tests"), untouched)

        try sandbox.file("held", "")
        #expect(gate.waitForArrival())
        try flood()
        try move("a", "away", sandbox)
        try sandbox.place.directory("inside/a")
        try sandbox.file("a/file", "new")
        gate.open()
        #expect(eventually { reader.last == "new" && reader.isRescanned })
        #expect(eventually { untouched.all == [.rescan] })

        // The new directory is the watched one.
        try sandbox.inside.replace("a/file", with: "newer")
        #expect(eventually { reader.last == "newer" })
        [holder, registration, other].forEach { $0.cancel() }
    }

    /// Two events each time, none equal to its predecessor, which would merge them.
    private func flood() throws {
        let text = try SystemFile.read("/proc/sys/fs/inotify/max_queued_events")
        let limit = try #require(Int(String(decoding: text.filter { $0 > 0x20 }, as: UTF8.self)))
        try sandbox.file("one", "")
        for _ in 0...(limit / 4) {
            try move("one", "two", sandbox)
            try move("two", "one", sandbox)
        }
    }

    /// A replace has at least four events.
    @Test func twentyThousandEventsEndOnTheLastValue() throws {
        let gate = Gate()
        let reader = Reader(sandbox.path("file"))
        let holder = try monitor.watch(sandbox.path("held")) { _ in gate.pass() }
        let registration = try monitor.watch(sandbox.path("file")) { reader.look($0) }
        try sandbox.file("held", "")
        #expect(gate.waitForArrival())
        for number in 0..<5000 { try sandbox.inside.replace("file", with: "\(number)") }
        gate.open()
        #expect(eventually { reader.last == "4999" })
        [holder, registration].forEach { $0.cancel() }
    }

    //  4 threads                                   1 thread
    //  watch, look; wait for the next value        replace, replace, ...
    //  cancel; again
    @Test func aValueWrittenRightAfterWatchingIsReported() throws {
        let (monitor, sandbox) = (monitor, sandbox)
        let results = try concurrently(4) { index in
            for round in 0..<300 {
                let name = "d\(index)-\(round % 3)"
                _ = try? sandbox.place.directory("inside/" + name)
                let reader = Reader(sandbox.path(name + "/file"))
                let registration = try monitor.watch(sandbox.path(name + "/file")) { reader.look($0) }
                try sandbox.inside.replace(name + "/file", with: "\(round)")
                try #require(eventually { reader.last == "\(round)" })
                registration.cancel()
                if round % 7 == 0 { try move(name, "old\(index)-\(round)", sandbox) }
            }
        }
        for result in results { try result.get() }
    }
}
