import Glibc
import SharedFiles
import TestSupport
import Testing

/// Tests of fairness: a waiter gets its turn, and a waiter that is stopped blocks no process.
@Suite(.timeLimit(.minutes(10))) struct LockFairnessTests {
    private let sandbox: Sandbox
    private let file: LockFile

    init() throws {
        sandbox = try Sandbox()
        file = LockFile(directory: sandbox.inside, name: "lock")
    }

    /// Starts a child that takes the slot repeatedly without a pause.
    private func writer() throws -> ChildProcess {
        let words = ["lock-loop", sandbox.path(""), "lock", "3", "1000", sandbox.path("counter")]
        let child = try ChildProcess("sealed-probe", words)
        #expect(try child.readLine() == "running")
        return child
    }

    /// The number of times that the children have had the lock.
    private var turns: UInt64 {
        get throws {
            let bytes = try SystemFile.read(sandbox.path("counter"))
            return bytes.reversed().reduce(0) { $0 << 8 | UInt64($1) }
        }
    }

    //  8 writers                          test
    //  take, free, take, free, ...        ask
    //                                     queue after 20 ms
    //  hold back                          take
    @Test(arguments: [1, 8]) func aSlowWriterGetsItsTurnAmongOthersWithoutPause(_ count: Int) throws {
        try sandbox.file("counter", "\0\0\0\0\0\0\0\0")
        let writers = try (0..<count).map { _ in try writer() }
        var others: UInt64 = 0
        for _ in 0..<20 {
            let before = try turns
            let held = try file.acquire(LockRange(slot: 3), .exclusive, timeout: .seconds(300))
            others += try turns - before
            held.unlock()
        }
        // Twenty turns of one among nine; a waiter that only gets accidental gaps waits for thousands.
        #expect(others < 2000)
        for writer in writers { writer.kill(SIGKILL) }
    }

    //  holder        waiter                      test
    //  take
    //                ask, queue
    //                                            SIGSTOP
    //  free
    //                                            take, free, take, free, ...
    @Test func aWaiterStoppedInTheQueueDoesNotBlockOthers() throws {
        let holder = try file.acquire(LockRange(slot: 3), .exclusive, timeout: .zero)
        let waiter = try ChildProcess("sealed-probe", ["lock", sandbox.path(""), "lock", "3", "exclusive", "600000"])
        while !isInLine(waiter.pid) { usleep(1000) }
        waiter.kill(SIGSTOP)
        try waiter.waitUntilStopped()
        holder.unlock()
        for _ in 0..<50 { try file.acquire(LockRange(slot: 3), .exclusive, timeout: .seconds(1)).unlock() }
        // A single try holds back for no waiter.
        try file.acquire(LockRange(slot: 3), .exclusive, timeout: .zero).unlock()
        #expect(isInLine(waiter.pid))
        waiter.kill(SIGCONT)
        #expect(try waiter.readLine() == "held")
        #expect(!isInLine(waiter.pid))
    }

    @Test func anAbandonedWaitLeavesTheQueue() throws {
        let held = try file.acquire(LockRange(slot: 3), .exclusive, timeout: .zero)
        let waiter = try ChildProcess("sealed-probe", ["lock", sandbox.path(""), "lock", "3", "exclusive", "100"])
        #expect(try waiter.readLine() == "lockTimeout")
        held.unlock()
        #expect(try waiter.finish().exitCode == 1)
        let whole = try file.acquire(.whole, .exclusive, timeout: .zero)
        whole.unlock()
    }

    @Test func thoseInLineDoNotExcludeOtherSlotsOrTheWhole() throws {
        let held = try file.acquire(LockRange(slot: 3), .exclusive, timeout: .zero)
        let waiter = try ChildProcess("sealed-probe", ["lock", sandbox.path(""), "lock", "3", "exclusive", "600000"])
        while !isInLine(waiter.pid) { usleep(1000) }
        try file.acquire(LockRange(slot: 4), .exclusive, timeout: .zero).unlock()
        waiter.kill(SIGSTOP)
        try waiter.waitUntilStopped()
        held.unlock()
        try file.acquire(.whole, .exclusive, timeout: .seconds(1)).unlock()
    }

    /// Returns whether a process shows that it has waited long: a shared lock behind the slots, proc(5).
    private func isInLine(_ pid: Int32) -> Bool {
        let names = (try? SystemFile.names("/proc/\(pid)/fdinfo")) ?? []
        return names.contains { name in
            let info = (try? SystemFile.read("/proc/\(pid)/fdinfo/\(name)")) ?? []
            return String(decoding: info, as: UTF8.self).split(separator: "\n").contains { line in
                line.hasPrefix("lock:") && line.contains("OFDLCK") && line.contains("READ")
            }
        }
    }
}
