import Dispatch
import Glibc
import SharedFiles
import Synchronization
import Testing

@Suite("BlockingThreadPool", .timeLimit(.minutes(2)))
struct BlockingThreadPoolTests {
    /// A gate that blocks calls on their threads until it is opened.
    private final class Gate: Sendable {
        private let semaphore = DispatchSemaphore(value: 0)
        let entered = Atomic(0)

        func pass() {
            entered.add(1, ordering: .sequentiallyConsistent)
            semaphore.wait()
            semaphore.signal()
        }

        func open() { semaphore.signal() }

        func entered(_ count: Int) async throws {
            while entered.load(ordering: .sequentiallyConsistent) < count {
                try await Task.sleep(for: .milliseconds(1))
            }
        }
    }

    private final class Counter: Sendable {
        private let value = Atomic(0)

        /// Returns the number of calls before this one.
        func next() -> Int { value.add(1, ordering: .sequentiallyConsistent).oldValue }
    }

    /// A counter of concurrent calls.
    private final class Running: Sendable {
        private let counts = Mutex((now: 0, highest: 0))

        var highest: Int { counts.withLock { $0.highest } }

        func during(_ body: () -> Void) {
            counts.withLock { counts in
                counts.now += 1
                counts.highest = max(counts.highest, counts.now)
            }
            body()
            counts.withLock { $0.now -= 1 }
        }
    }

    private func code(_ body: () async throws(FileError) -> Void) async -> FileError.Code? {
        do throws(FileError) { try await body() } catch { return error.code }
        return nil
    }

    @Test func aBodyThatIsBegunRunsOnAThread() async throws {
        let (threads, gate) = (BlockingThreadPool(named: "test", most: 2), Gate())
        for _ in 0..<3 {
            threads.begin {
                gate.pass()
            } orElse: {
                Issue.record("no thread could be created")
            }
        }
        try await gate.entered(2)
        #expect(threads.lineLength == 1)
        gate.open()
        try await gate.entered(3)
    }

    /// A body that is begun may be for the thread that begins it, and does not wait for it; a call waits for any thread.
    @Test func withoutAnotherThreadABodyThatIsBegunIsGivenUp() async throws {
        let (asked, gate, givenUp) = (Counter(), Gate(), Counter())
        let threads = BlockingThreadPool(named: "test") { asked.next() == 0 ? 0 : EAGAIN }
        threads.begin {
            gate.pass()
        } orElse: {
            Issue.record("no thread could be created")
        }
        try await gate.entered(1)
        threads.begin {
            Issue.record("It ran.")
        } orElse: {
            _ = givenUp.next()
        }
        #expect(givenUp.next() == 1)
        #expect(threads.lineLength == 0 && threads.threadCount == 1)
        async let call = threads.run(atMost: nil, "test", "it") { _ in 7 }
        while threads.lineLength == 0 { try await Task.sleep(for: .milliseconds(1)) }
        gate.open()
        #expect(try await call == 7)
    }

    @Test func withoutAThreadACallFails() async {
        let threads = BlockingThreadPool(named: "test") { EAGAIN }
        let code = await code { () throws(FileError) in
            try await threads.run(atMost: nil, "test", "it") { _ in _ = Issue.record("It ran.") }
        }
        #expect(code != nil)
        #expect(threads.threadCount == 0)
    }

    @Test func tasksContinueWhileMoreCallsBlockThanThereAreCores() async throws {
        let (threads, gate) = (BlockingThreadPool(named: "test"), Gate())
        try await withThrowingTaskGroup { group in
            for _ in 0..<40 { group.addTask { try await threads.run(atMost: nil, "test", "it") { _ in gate.pass() } } }
            // Only a running task can reach this line and open the gate.
            try await gate.entered(40)
            #expect(threads.threadCount == 40)
            gate.open()
            try await group.waitForAll()
        }
    }

    @Test func callsBeyondTheMostThreadsAreDoneInTurn() async throws {
        let threads = BlockingThreadPool(named: "test", most: 3)
        let running = Running()
        let gate = Gate()
        let done = try await withThrowingTaskGroup(of: Int.self) { group in
            for number in 0..<200 {
                group.addTask {
                    try await threads.run(atMost: .seconds(60), "test", "it") { _ in
                        running.during { gate.pass() }
                        return number
                    }
                }
            }
            while threads.lineLength < 197 || running.highest < 3 { try await Task.sleep(for: .milliseconds(1)) }
            gate.open()
            return try await group.reduce(into: Set()) { $0.insert($1) }
        }
        #expect(done.count == 200)
        #expect(running.highest == 3)
        #expect(threads.threadCount <= 3)
    }

    @Test func aThreadIsUsedAgain() async throws {
        let threads = BlockingThreadPool(named: "test")
        for number in 0..<100 {
            #expect(try await threads.run(atMost: nil, "test", "it") { _ in number } == number)
        }
        // The previous thread may not be idle yet when the next call comes.
        #expect(threads.threadCount < 100)
    }

    @Test func aLimitRunsOutInTheLine() async throws {
        let (threads, gate) = (BlockingThreadPool(named: "test", most: 1), Gate())
        async let first: Void = threads.run(atMost: nil, "test", "it") { _ in gate.pass() }
        try await gate.entered(1)
        // The gate is opened only after this call has returned.
        let code = await code { () throws(FileError) in
            try await threads.run(atMost: .milliseconds(20), "test", "it") { _ in _ = Issue.record("It ran.") }
        }
        #expect(code == .lockTimeout)
        #expect(threads.lineLength == 0)
        gate.open()
        try await first
    }

    @Test func cancellingRemovesACallFromTheQueue() async throws {
        let (threads, gate) = (BlockingThreadPool(named: "test", most: 1), Gate())
        async let first: Void = threads.run(atMost: nil, "test", "it") { _ in gate.pass() }
        try await gate.entered(1)
        let second = Task {
            await code { () throws(FileError) in
                try await threads.run(atMost: .seconds(3600), "test", "it") { _ in _ = Issue.record("It ran.") }
            }
        }
        while threads.lineLength == 0 { try await Task.sleep(for: .milliseconds(1)) }
        second.cancel()
        #expect(await second.value == .cancelled)
        gate.open()
        try await first
    }

    @Test func aCallWithoutALimitIsDoneAlsoWhenItsTaskWasCancelled() async throws {
        let (threads, gate) = (BlockingThreadPool(named: "test", most: 1), Gate())
        async let first: Void = threads.run(atMost: nil, "test", "it") { _ in gate.pass() }
        try await gate.entered(1)
        let second: Task<Bool, any Error> = Task { () async throws in
            try await threads.run(atMost: nil, "test", "it") { call in call.isCancelled }
        }
        while threads.lineLength == 0 { try await Task.sleep(for: .milliseconds(1)) }
        second.cancel()
        gate.open()
        #expect(try await second.value)
        try await first
    }

    @Test func theTimeInTheLineCountsAgainstTheLimit() async throws {
        let (threads, gate) = (BlockingThreadPool(named: "test", most: 1), Gate())
        async let first: Void = threads.run(atMost: nil, "test", "it") { _ in gate.pass() }
        try await gate.entered(1)
        async let second = threads.run(atMost: .seconds(60), "test", "it") { $0.remaining }
        while threads.lineLength == 0 { try await Task.sleep(for: .milliseconds(1)) }
        try await Task.sleep(for: .milliseconds(5))
        gate.open()
        let remaining = try #require(try await second)
        #expect(remaining <= .milliseconds(59_995))
        try await first
    }

    @Test func itsThreadsTakeNoSignals() async throws {
        let threads = BlockingThreadPool(named: "test")
        let areBlocked = try await threads.run(atMost: nil, "test", "it") { _ in
            var mask = sigset_t()
            pthread_sigmask(SIG_BLOCK, nil, &mask)
            return [SIGTERM, SIGSEGV].map { sigismember(&mask, $0) == 1 }
        }
        // The report of a crash is made by a handler.
        #expect(areBlocked == [true, false])
    }
}
