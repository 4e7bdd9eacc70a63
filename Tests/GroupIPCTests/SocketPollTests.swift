import CryptoPrimitives
import Dispatch
import Glibc
import SealedState
import SharedFiles
import Synchronization
import Testing

@testable import AppGroups
@testable import GroupIPC
@testable import KeyVault

/// Tests of the threads that wait for sockets, of turns, and of frames that wait for room in a socket.
@Suite(.timeLimit(.minutes(10))) struct SocketPollTests {
    private let name: GroupIPCName

    init() throws { name = try GroupIPCName("c", in: AppGroup("group.ipc")) }

    private func wait(_ limit: Duration = .seconds(300)) -> SocketWait { SocketWait(limit, name) }

    private func sockets() throws -> (Int32, Int32) {
        var ends: [Int32] = [-1, -1]
        try #require(socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0, &ends) == 0)
        return (ends[0], ends[1])
    }

    /// Returns the code of the error with which a wait for a turn ends.
    private func code(_ body: () async throws(AppGroupError) -> Void) async -> AppGroupError.Code? {
        do throws(AppGroupError) { try await body() } catch { return error.code }
        return nil
    }

    /// The numbers of the tasks that came to some place, in order.
    private final class Arrivals: Sendable {
        private let list = Mutex<[Int]>([])

        var numbers: [Int] { list.withLock { $0 } }

        func add(_ number: Int) { list.withLock { $0.append(number) } }
    }

    // MARK: Waiting

    /// A later deadline does not delay an earlier one.
    @Test func waitsEndAtTheirDeadlines() async {
        let start = SuspendingClock.now
        let last = Task { await SocketPoll.shared.wait(for: 0, at: -1, until: start + .seconds(3600)) }
        for number in [2, 1, 3] {
            let end = start + .milliseconds(100 * number)
            let outcome = await SocketPoll.shared.wait(for: 0, at: -1, until: end)
            #expect(outcome == .timeout && SuspendingClock.now >= end)
        }
        last.cancel()
        #expect(await last.value == .cancelled)
    }

    @Test func aSocketThatBecomesReadyEndsTheWaitsForIt() async throws {
        let (one, other) = try sockets()
        defer { for socket in [one, other] { close(socket) } }
        let begun = Arrivals()
        let reading = (0..<2).map { number in
            Task {
                await SocketPoll.shared.wait(for: Int16(POLLIN), at: one, until: nil) { begun.add(number) }
            }
        }
        let writing = await SocketPoll.shared.wait(for: Int16(POLLOUT), at: one, until: nil)
        #expect(writing == .ready)
        while begun.numbers.count < 2 { try await Task.sleep(for: .milliseconds(1)) }
        #expect(write(other, "x", 1) == 1)
        for task in reading { #expect(await task.value == .ready) }
    }

    /// Jobs that other threads add run although no socket has an event.
    @Test func theThreadsRunTheJobsOfTasks() async {
        let gate = DispatchSemaphore(value: 0)
        let blocked = (0..<8).map { _ in
            Task(executorPreference: SocketPoll.shared) {
                gate.wait()
                gate.signal()
            }
        }
        let task = Task(executorPreference: SocketPoll.shared) { () -> Int in
            var sum = 0
            for number in 0..<100 {
                await Task.yield()
                sum += number
            }
            return sum
        }
        #expect(await task.value == 4950)
        gate.signal()
        for task in blocked { await task.value }
    }

    // MARK: Without threads

    /// A wait for a socket then ends, and the caller examines it; one for a time or a turn goes on.
    @Test func withoutAThreadWaitsAndJobsGoOn() async throws {
        let isShort = Atomic(true)
        let poll = SocketPoll { isShort.load(ordering: .relaxed) ? EAGAIN : 0 }
        let (one, other) = try sockets()
        defer { for socket in [one, other] { close(socket) } }
        let first = await poll.wait(for: Int16(POLLIN), at: one, until: nil)
        #expect(first == .ready)
        let end = SuspendingClock.now + .milliseconds(200)
        let second = await poll.wait(for: 0, at: -1, until: end)
        #expect(second == .timeout && SuspendingClock.now >= end)
        let task = Task(executorPreference: poll) { () -> Int in
            for _ in 0..<3 { await Task.yield() }
            return 7
        }
        #expect(await task.value == 7)
        isShort.store(false, ordering: .relaxed)
        let later = Task { await poll.wait(for: Int16(POLLIN), at: one, until: nil) }
        #expect(write(other, "x", 1) == 1)
        #expect(await later.value == .ready)
    }

    /// The only thread does not wait for sockets, and the body for a second one does not wait for it.
    @Test func aJobThatBlocksTheOnlyThreadDelaysNoOther() async throws {
        let asked = Atomic(0)
        let poll = SocketPoll { asked.add(1, ordering: .relaxed).oldValue == 0 ? 0 : EAGAIN }
        let (one, other) = try sockets()
        defer { for socket in [one, other] { close(socket) } }
        let gate = DispatchSemaphore(value: 0)
        let entered = Atomic(false)
        let blocked = Task(executorPreference: poll) {
            entered.store(true, ordering: .relaxed)
            gate.wait()
        }
        while !entered.load(ordering: .relaxed) { try await Task.sleep(for: .milliseconds(1)) }
        let first = await poll.wait(for: Int16(POLLIN), at: one, until: nil)
        #expect(first == .ready)
        let second = await poll.wait(for: 0, at: -1, until: .now + .milliseconds(100))
        #expect(second == .timeout)
        let task = Task(executorPreference: poll) { 7 }
        #expect(await task.value == 7)
        gate.signal()
        await blocked.value
        let last = Task(executorPreference: poll) { 8 }
        #expect(await last.value == 8)
        #expect(asked.load(ordering: .relaxed) > 1)
    }

    /// More jobs block than the global pool has threads: one of them blocks there, and waits go on.
    @Test(.enabled(if: sysconf(Int32(_SC_NPROCESSORS_ONLN)) > 1))
    func jobsThatBlockWithoutThreadsDelayNoWait() async throws {
        let poll = SocketPoll { EAGAIN }
        let gate = DispatchSemaphore(value: 0)
        let running = Arrivals()
        let blocked = (0..<2 * sysconf(Int32(_SC_NPROCESSORS_ONLN))).map { _ in
            Task(executorPreference: poll) {
                running.add(1)
                gate.wait()
                gate.signal()
            }
        }
        while running.numbers.isEmpty { try await Task.sleep(for: .milliseconds(1)) }
        let outcome = await poll.wait(for: 0, at: -1, until: .now + .milliseconds(300))
        #expect(outcome == .timeout)
        #expect(running.numbers.count == 1)
        gate.signal()
        for task in blocked { await task.value }
    }

    // MARK: Turns

    @Test func turnsAreTakenInTheOrderOfTheCalls() async throws {
        let turn = SocketTurn()
        try await turn.take(wait())
        let taken = Arrivals()
        var tasks: [Task<AppGroupError.Code?, Never>] = []
        for number in 0..<6 {
            tasks.append(
                Task {
                    await code { () async throws(AppGroupError) in
                        try await turn.take(wait(number == 3 ? .milliseconds(1) : .seconds(300)))
                        taken.add(number)
                        turn.end()
                    }
                })
            // The calls are made one after the other.
            if number == 3 {
                #expect(await tasks[3].value == .timeout)
            } else {
                let before = number > 3 ? number - 1 : number
                while turn.lineLength == before { try await Task.sleep(for: .milliseconds(1)) }
            }
        }
        tasks[1].cancel()
        #expect(await tasks[1].value == .cancelled)
        turn.end()
        for number in [0, 2, 4, 5] { #expect(await tasks[number].value == nil) }
        #expect(taken.numbers == [0, 2, 4, 5])
        let free = await code { () async throws(AppGroupError) in try await turn.take(wait(.zero)) }
        #expect(free == nil)
    }

    @Test func asManyCallsHaveATurnAsThereArePlaces() async throws {
        let turn = SocketTurn(places: 2)
        for _ in 0..<2 { try await turn.take(wait()) }
        let full = await code { () async throws(AppGroupError) in try await turn.take(wait(.milliseconds(1))) }
        #expect(full == .timeout)
        turn.end()
        try await turn.take(wait(.zero))
    }

    // MARK: Answers that block

    /// Answers that end only when they are withdrawn have all threads but the one that waits for sockets.
    @Test func withdrawnRequestsFreeTheThreadsThatTheyBlock() async throws {
        let sandbox = try await ChannelSandbox()
        let (one, other) = try connection(sandbox.store)
        let entered = Atomic(0)
        let answers = ChannelAnswers(other, peer(), limit: 16, on: SocketPoll(most: 3)) { body, _ in
            guard body == [1] else { return body }
            entered.add(1, ordering: .relaxed)
            let gate = DispatchSemaphore(value: 0)
            await withTaskCancellationHandler {
                gate.wait()
            } onCancel: {
                gate.signal()
            }
            return body
        }
        let serving = Task { await answers.run() }
        let link = ChannelLink(one, peer())
        let blocked = (0..<2).map { _ in Task { await link.ask([1], wait()) } }
        try await sandbox.until { entered.load(ordering: .relaxed) == 2 }
        let next = Task { await link.ask([2], wait(.seconds(120))) }
        for call in blocked {
            call.cancel()
            if case .error(let error) = await call.value, error.code == .cancelled { continue }
            Issue.record("an answer that blocks has ended")
        }
        if case .reply(let reply) = await next.value {
            #expect(reply == [2])
        } else {
            Issue.record("the next request has no reply")
        }
        link.close()
        await serving.value
    }

    private func threadName() -> String {
        let file = open("/proc/thread-self/comm", O_RDONLY)
        defer { close(file) }
        var bytes = [UInt8](repeating: 0, count: 32)
        let count = read(file, &bytes, bytes.count)
        return String(decoding: bytes.prefix(max(0, count - 1)), as: UTF8.self)
    }

    /// The peer leaves: the handlers of its answers may block, and do not run on threads of the global pool.
    @Test func theEndOfAConnectionCancelsItsAnswersOnThreadsOfTheirOwn() async throws {
        let sandbox = try await ChannelSandbox()
        let (one, other) = try connection(sandbox.store)
        let entered = Atomic(0)
        let names = Mutex<[String]>([])
        let answers = ChannelAnswers(other, peer(), limit: 16) { body, _ in
            let gate = DispatchSemaphore(value: 0)
            entered.add(1, ordering: .relaxed)
            await withTaskCancellationHandler {
                gate.wait()
            } onCancel: {
                let name = threadName()
                names.withLock { $0.append(name) }
                gate.signal()
            }
            return body
        }
        let serving = Task { await answers.run() }
        let link = ChannelLink(one, peer())
        let calls = (0..<4).map { _ in Task { await link.ask([1], wait()) } }
        try await sandbox.until { entered.load(ordering: .relaxed) == 4 }
        link.close()
        await serving.value
        #expect(names.withLock { $0 } == [String](repeating: "group-cancels", count: 4))
        for call in calls { _ = await call.value }
    }

    // MARK: Frames without room

    /// Returns both ends of a connection after a handshake.
    private func connection(_ store: SealedStore) throws -> (ChannelConnection, ChannelConnection) {
        let settings = ChannelSettings(store: store, name: name, peers: .anyMember, maximumMessageSize: 1 << 20)
        let key = SecretBytes.random(count: 32)
        var client = NoiseHandshake(.initiator, presharedKey: key, prologue: [], ephemeral: try .random())
        var listener = NoiseHandshake(.responder, presharedKey: key, prologue: [], ephemeral: try .random())
        _ = try listener.read(try client.write())
        _ = try client.read(try listener.write())
        let (one, other) = try sockets()
        func messages(_ socket: Int32) -> MessageSocket {
            MessageSocket(Descriptor(owning: socket, path: "a socket"), name, settings.largestFrame)
        }
        let (root, version) = (try store.vault.channelRoot(), try settings.rosterVersion())
        return (
            ChannelConnection(messages(one), client, root, version, settings, .initiator),
            ChannelConnection(messages(other), listener, root, version, settings, .responder)
        )
    }

    private func peer() -> GroupPeer { GroupPeer(sender: .init(process: getpid(), user: geteuid(), group: getegid())) }

    /// A call that ends while its request is sent does not end the connection, on which other calls wait.
    ///
    ///     client                          listener
    ///     request 1: a part, 2: nothing   (does not read)
    ///     1 and 2 end in time
    ///                                     reads
    ///     the rest of 1, cancel 1, 3      answers 3
    @Test func requestsThatWereGivenUpLeaveTheConnectionToOthers() async throws {
        let sandbox = try await ChannelSandbox()
        let (one, other) = try connection(sandbox.store)
        let link = ChannelLink(one, peer())
        let large = [UInt8](repeating: 7, count: 1_000_000)
        for _ in 0..<2 {
            guard case .error(let error) = await link.ask(large, wait(.milliseconds(100))) else {
                Issue.record("a call without a reply ended otherwise")
                return
            }
            #expect(error.code == .timeout)
        }
        let third = Task { await link.ask([3], wait()) }
        let received = Mutex<[String]>([])
        other.follow { frame in
            received.withLock { $0.append("\(frame.kind) \(frame.id) \(frame.body.count)") }
            if frame.body == [3] {
                other.send(ChannelFrame(kind: .reply, id: frame.id, body: [4]), by: .now + .seconds(300))
            }
            return .next
        } ended: { _ in
        }
        guard case .reply(let reply) = await third.value else {
            Issue.record("the third call has no reply")
            return
        }
        #expect(reply == [4])
        try await sandbox.until { received.withLock { $0.count } == 3 }
        #expect(received.withLock { $0 } == ["request 1 1000000", "cancel 1 0", "request 3 1"])
        other.close()
        try await sandbox.until { link.isOver }
        guard case .notSent = await link.ask([5], wait()) else {
            Issue.record("a request was sent through a connection that has ended")
            return
        }
    }

    /// A frame that the other end does not receive in time ends the connection, and those behind it are not sent.
    @Test func aFrameThatIsNotReceivedInTimeEndsTheConnection() async throws {
        let sandbox = try await ChannelSandbox()
        let (one, other) = try connection(sandbox.store)
        let ends = Mutex<[AppGroupError.Code]>([])
        let results = Mutex<[Bool]>([])
        one.follow({ _ in .next }, ended: { error in ends.withLock { $0.append(error.code) } })
        for size in [1_000_000, 1] {
            let frame = ChannelFrame(kind: .request, id: 1, body: [UInt8](repeating: 7, count: size))
            one.send(frame, by: .now + .milliseconds(100)) { isSent in results.withLock { $0.append(isSent) } }
        }
        try await sandbox.until { ends.withLock { $0.count } == 1 }
        #expect(ends.withLock { $0 } == [.connectionLost])
        #expect(results.withLock { $0 } == [false, false])
        one.send(ChannelFrame(kind: .cancel, id: 1), by: .now) { isSent in results.withLock { $0.append(isSent) } }
        #expect(results.withLock { $0 } == [false, false, false])
        withExtendedLifetime(other) {}
    }
}
