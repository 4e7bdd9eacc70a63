import Glibc
import SealedState
import TestSupport
import Testing

/// Tests of watchers that were stopped while the kernel's event queue overflowed.
@Suite(.timeLimit(.minutes(10))) struct SleepingWatcherFaultTests {
    /// Returns the number of events that one instance holds, inotify(7).
    private static func queueLimit() throws -> Int {
        let text = String(decoding: try SystemFile.read("/proc/sys/fs/inotify/max_queued_events"), as: UTF8.self)
        return try #require(Int(text.trimmingNewlines))
    }

    /// Drains an instance: returns whether its queue overflowed, and the number of events.
    private static func drain(_ inotify: Int32) -> (isOverflown: Bool, count: Int) {
        var buffer = [UInt8](repeating: 0, count: 1 << 16)
        var (isOverflown, count) = (false, 0)
        while true {
            let size = read(inotify, &buffer, buffer.count)
            guard size > 0 else { return (isOverflown, count) }
            var next = 0
            while next < size {
                let (mask, length) = buffer.withUnsafeBytes {
                    (
                        $0.loadUnaligned(fromByteOffset: next + 4, as: UInt32.self),
                        $0.loadUnaligned(fromByteOffset: next + 12, as: UInt32.self)
                    )
                }
                isOverflown = isOverflown || mask & UInt32(IN_Q_OVERFLOW) != 0
                (count, next) = (count + 1, next + 16 + Int(length))
            }
        }
    }

    // watchers | gets 0 | stopped                                             | go on: get 5
    // others   |        | 20,000 events at least, more than the queue holds   |
    // writer   |        |                            1, 2, 3, 4, 5: no room   |
    @Test func watchersThatWereAsleepEndOnTheLastValue() throws {
        let fixture = try StoreFixture()
        let store = try fixture.open()
        try store.write(ProbeRecord(number: 0))
        let words = ["watch", fixture.place.path, fixture.group.identifier, ProbeRecord.recordName, "-"]
        let watchers = try (0..<(isLongForm ? 20 : 3)).map { _ in try ChildProcess("sealed-probe", words) }
        for watcher in watchers {
            #expect(try watcher.readLine()?.hasPrefix("value 0 ") == true)
            watcher.kill(SIGSTOP)
            try watcher.waitUntilStopped()
        }
        let control = inotify_init1(Int32(IN_NONBLOCK) | Int32(IN_CLOEXEC))
        defer { close(control) }
        #expect(inotify_add_watch(control, fixture.records, UInt32(IN_MOVED_TO | IN_MOVED_FROM)) >= 0)

        let names = [fixture.records + "/one", fixture.records + "/two"]
        try SystemFile.write(names[0], [])
        // Two events each.
        let limit = try Self.queueLimit()
        for round in 0..<max(10_000, limit) { rename(names[round % 2], names[1 - round % 2]) }
        for number in 1...5 { try store.write(ProbeRecord(number: number)) }
        let reported = Self.drain(control)
        #expect(reported.isOverflown && reported.count > limit)

        for watcher in watchers { watcher.kill(SIGCONT) }
        for watcher in watchers { #expect(try watcher.readLine()?.hasPrefix("value 5 ") == true) }
        // The watchers are still notified.
        try store.write(ProbeRecord(number: 6))
        for watcher in watchers { #expect(try watcher.readLine()?.hasPrefix("value 6 ") == true) }
    }
}
