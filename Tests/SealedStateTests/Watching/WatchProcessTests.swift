import Glibc
import SealedState
import TestSupport
import Testing

@Suite("Watching across processes", .timeLimit(.minutes(10)))
struct WatchProcessTests {
    let fixture: StoreFixture
    let store: SealedStore

    init() throws {
        fixture = try StoreFixture()
        store = try fixture.open()
    }

    private func watcher(from cursor: String = "-") throws -> ChildProcess {
        let words = ["watch", fixture.place.path, fixture.group.identifier, ProbeRecord.recordName, cursor]
        return try ChildProcess("sealed-probe", words)
    }

    /// Returns the next line's first two words.
    private func state(_ child: ChildProcess) throws -> String {
        let line = try #require(try child.readLine())
        return line.split(separator: " ").prefix(2).joined(separator: " ")
    }

    /// Reads until the watcher has reported a state; returns all reported states.
    @discardableResult
    private func states(_ child: ChildProcess, until last: String) throws -> [String] {
        var states: [String] = []
        while states.last != last { states.append(try state(child)) }
        return states
    }

    private func numbers(_ states: [String]) -> [Int] {
        states.compactMap { $0.split(separator: " ").last.flatMap { Int($0) } }
    }

    // writers  | 1 to 8 add one to the record in turn         | ended
    // watchers |        look at some of the values, in order  | the last value
    @Test func everyWatcherReceivesTheLastValueOfEightWriters() throws {
        let watchers = try (0..<3).map { _ in try watcher() }
        for watcher in watchers { #expect(try state(watcher) == "absent absent") }
        let words = ["store-increment", fixture.place.path, fixture.group.identifier, "40"]
        let writers = try (0..<8).map { _ in try ChildProcess("sealed-probe", words) }
        for writer in writers { #expect(try writer.finish().exitCode == 0) }
        for watcher in watchers {
            let reported = numbers(try states(watcher, until: "value 320"))
            #expect(reported == reported.sorted() && Set(reported).count == reported.count)
        }
    }

    // watcher | gets 0 | stopped                                     | goes on: gets 5,000
    // writer  |        | 5,000 writes of at least four events each:  |
    //         |        | over 20,000, and more than the queue holds  |
    @Test func aWatcherThatWasAsleepEndsOnTheLastValue() throws {
        try store.write(ProbeRecord(number: 0))
        let watcher = try watcher()
        #expect(try state(watcher) == "value 0")
        watcher.kill(SIGSTOP)
        try watcher.waitUntilStopped()
        for number in 1...5000 { try store.write(ProbeRecord(number: number)) }
        watcher.kill(SIGCONT)
        try states(watcher, until: "value 5000")
        try store.write(ProbeRecord(number: 5001))
        #expect(try state(watcher) == "value 5001")
    }

    @Test func aKilledWriterDoesNotAffectReaders() throws {
        let watcher = try watcher()
        #expect(try state(watcher) == "absent absent")
        let words = ["store-write-loop", fixture.place.path, fixture.group.identifier, "100000"]
        for _ in 0..<5 {
            let writer = try ChildProcess("sealed-probe", words)
            _ = try writer.readLine()
            writer.kill(SIGKILL)
            _ = try writer.finish()
        }
        let last = try store.snapshot(of: ProbeRecord.self).value.number
        let reported = try states(watcher, until: "value \(last)")
        #expect(reported.allSatisfy { $0.hasPrefix("value ") })
    }

    @Test func aCursorIsResumedFromInAnotherProcess() throws {
        try store.write(ProbeRecord(number: 1))
        let first = try watcher()
        let line = try #require(try first.readLine()).split(separator: " ").map(String.init)
        #expect(line.prefix(2) == ["value", "1"])
        first.closeInput()
        #expect(try first.finish().exitCode == 0)

        let second = try watcher(from: line[2])
        try store.write(ProbeRecord(number: 2))
        #expect(try state(second) == "value 2")

        let third = try watcher(from: line[2])
        #expect(try state(third) == "value 2")
    }

    @Test func aThousandWatchersShareOneInotifyInstance() throws {
        let words = ["watch-many", fixture.place.path, fixture.group.identifier, "1000"]
        let child = try ChildProcess("sealed-probe", words)
        #expect(try child.readLine() == "inotify 1")
        // The number of threads depends on the machine, not on the number of watchers.
        let threads = try #require(try child.readLine()).split(separator: " ").last.flatMap { Int($0) }
        #expect(try #require(threads) < 200)
        let files = try #require(try child.readLine()).split(separator: " ").last.flatMap { Int($0) }
        #expect(try #require(files) < 100)
        #expect(try child.readLine() == "all")
        #expect(try child.finish().exitCode == 0)
    }

    @Test func nothingIsLeftOfAWatchThatHasEnded() throws {
        let words = ["watch-leak", fixture.place.path, fixture.group.identifier, "300"]
        let lines = try ChildProcess.run("sealed-probe", words).outputText.split(separator: "\n")
        #expect(lines.count == 2)
        #expect(lines.first == lines.last)
        #expect(lines.first?.hasSuffix(" watches 0") == false)
    }
}
