import FileMonitoring
import Glibc
import SharedFiles
import Synchronization
import TestSupport
import Testing

/// Tests that no change is missed, for any change of the tree and any backlog of the monitor.
@Suite(.timeLimit(.minutes(10))) struct MonitorStressTests {
    private let yard: Yard
    private let monitor = FileMonitor()

    init() throws { yard = try Yard() }

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
    //  rename, remove, link, make at random       walk the way anew, call
    //  put a new value in place                   call; look
    //                                             ... the value is seen, or one call was missing
    @Test(arguments: 1...4) func theLastValueIsSeenHoweverItGotThere(_ seed: Int) throws {
        let reader = Reader(yard.path("a/b/c/file"))
        let child = try ChildProcess("sealed-probe", ["monitor-churn", yard.path(""), "\(seed)"])
        let registration = try monitor.watch(yard.path("a/b/c/file")) { reader.look($0) }
        for round in 0..<60 {
            try child.write("next\n")
            let value = try #require(try child.readLine())
            try #require(eventually { reader.last == value }, "round \(round): \(reader.last), not \(value)")
        }
        #expect(!reader.isRescanned)
        registration.cancel()
    }

    @Test(arguments: strategies) func everyReplaceOfAnotherProcessIsSeen(_ strategy: TemporaryStrategy) throws {
        let reader = Reader(yard.path("file"))
        let registration = try monitor.watch(yard.path("file")) { reader.look($0) }
        let name = strategy == .anonymous ? "anonymous" : "named"
        let child = try ChildProcess("sealed-probe", ["replace", yard.path(""), "file", "1", name, "unsynced"])
        #expect(try child.readLine() == "started")
        for _ in 0..<20 {
            child.kill(SIGSTOP)
            try child.waitUntilStopped()
            let value = try yard.text("file")
            #expect(eventually { reader.last == value })
            child.kill(SIGCONT)
        }
        child.kill(SIGKILL)
        _ = try child.finish()
        let value = try yard.text("file")
        #expect(eventually { reader.last == value })
        registration.cancel()
    }

    //  test                              monitor's thread
    //  make `held`                       held in a handler
    //  more events than the queue holds
    //  move the directory, make another
    //  let go                            overflow: every way anew, every handler once more
    @Test func anOverflowIsARescanForEverybody() throws {
        try yard.place.directory("inside/a")
        let gate = Gate()
        let holder = try monitor.watch(yard.path("held")) { _ in gate.pass() }
        let reader = Reader(yard.path("a/file"))
        let registration = try monitor.watch(yard.path("a/file")) { reader.look($0) }
        let untouched = MonitorCalls()
        let other = try monitor.watch(yard.path("untouched/by/anybody"), untouched)

        try yard.file("held", "")
        #expect(gate.waitForArrival())
        try flood()
        try move("a", "away", yard)
        try yard.place.directory("inside/a")
        try yard.file("a/file", "new")
        gate.open()
        #expect(eventually { reader.last == "new" && reader.isRescanned })
        #expect(eventually { untouched.all == [.rescan] })

        // The new directory is the watched one.
        try yard.inside.replace("a/file", with: "newer")
        #expect(eventually { reader.last == "newer" })
        [holder, registration, other].forEach { $0.cancel() }
    }

    /// Two events each time, none equal to its predecessor, which would merge them.
    private func flood() throws {
        let text = try SystemFile.read("/proc/sys/fs/inotify/max_queued_events")
        let limit = try #require(Int(String(decoding: text.filter { $0 > 0x20 }, as: UTF8.self)))
        try yard.file("one", "")
        for _ in 0...(limit / 4) {
            try move("one", "two", yard)
            try move("two", "one", yard)
        }
    }

    /// A replace has at least four events.
    @Test func twentyThousandEventsEndOnTheLastValue() throws {
        let gate = Gate()
        let reader = Reader(yard.path("file"))
        let holder = try monitor.watch(yard.path("held")) { _ in gate.pass() }
        let registration = try monitor.watch(yard.path("file")) { reader.look($0) }
        try yard.file("held", "")
        #expect(gate.waitForArrival())
        for number in 0..<5000 { try yard.inside.replace("file", with: "\(number)") }
        gate.open()
        #expect(eventually { reader.last == "4999" })
        [holder, registration].forEach { $0.cancel() }
    }

    //  4 threads                                   1 thread
    //  watch, look; wait for the next value        replace, replace, ...
    //  cancel; again
    @Test func aValueWrittenRightAfterWatchingIsTold() throws {
        let (monitor, yard) = (monitor, yard)
        let results = try concurrently(4) { index in
            for round in 0..<300 {
                let name = "d\(index)-\(round % 3)"
                _ = try? yard.place.directory("inside/" + name)
                let reader = Reader(yard.path(name + "/file"))
                let registration = try monitor.watch(yard.path(name + "/file")) { reader.look($0) }
                try yard.inside.replace(name + "/file", with: "\(round)")
                try #require(eventually { reader.last == "\(round)" })
                registration.cancel()
                if round % 7 == 0 { try move(name, "old\(index)-\(round)", yard) }
            }
        }
        for result in results { try result.get() }
    }
}
