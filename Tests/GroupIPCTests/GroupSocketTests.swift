import Glibc
import SharedFiles
import Synchronization
import TestSupport
import Testing

@testable import AppGroups
@testable import GroupIPC

/// Tests of sockets between processes: permitted peers, whole messages, and ends of every kind.
@Suite(.timeLimit(.minutes(10))) struct GroupSocketTests {
    private let sandbox: IPCSandbox

    init() throws { sandbox = try IPCSandbox() }

    /// Returns both ends, in this process.
    private func pair(
        limit: Int = GroupSocketConnection.defaultMessageSize
    ) throws -> (GroupSocketConnection, GroupSocketConnection) {
        let listener = try GroupSocketListener("pair", in: sandbox.container, maximumMessageSize: limit)
        let one = try GroupSocketConnection(to: "pair", in: sandbox.container, maximumMessageSize: limit)
        return (one, try listener.accept(timeout: .seconds(300)))
    }

    private func bytes(_ count: Int) -> [UInt8] { (0..<count).map { UInt8(truncatingIfNeeded: $0) } }

    // MARK: Messages

    @Test func messagesComeWholeAndInOrder() throws {
        let (one, other) = try pair()
        for count in [0, 1, 3, 4, 5, 70_000] { try one.send(bytes(count)) }
        for count in [0, 1, 3, 4, 5, 70_000] { #expect(try other.receive(timeout: .seconds(300)) == bytes(count)) }
        try other.send([1])
        #expect(try one.receive(timeout: .seconds(300)) == [1])
    }

    @Test func anotherProcessAnswers() throws {
        let listener = try sandbox.child("listen", "echo")
        #expect(try listener.readLine() == "listening")
        let connection = try GroupSocketConnection(to: "echo", in: sandbox.container)
        #expect(connection.peer.processID == listener.pid)
        #expect(connection.peer.userID == geteuid())
        #expect(connection.peer.executablePath?.hasSuffix("/sealed-probe") == true)
        #expect(try listener.readLine() == "connected \(geteuid())")
        for count in [0, 10, 1 << 20] {
            try connection.send(bytes(count), timeout: .seconds(300))
            #expect(try connection.receive(timeout: .seconds(300)) == bytes(count))
        }
        try connection.finish()
        #expect(try connection.receive(timeout: .seconds(300)) == nil)
        #expect(try connection.receive(timeout: .seconds(300)) == nil)
        #expect(try listener.readLine() == "finished")
    }

    @Test func aMessageBeyondTheLimitIsNotSent() throws {
        let (one, other) = try pair(limit: 100)
        #expect(groupError { try one.send(bytes(101)) }?.code == .messageTooLarge)
        try one.send(bytes(100))
        #expect(try other.receive(timeout: .seconds(300)) == bytes(100))
    }

    @Test func aLengthBeyondTheLimitEndsTheConnectionBeforeAnythingIsHeld() throws {
        let listener = try GroupSocketListener("small", in: sandbox.container, maximumMessageSize: 100)
        let one = try GroupSocketConnection(to: "small", in: sandbox.container)
        let other = try listener.accept(timeout: .seconds(300))
        try one.send(bytes(101))
        #expect(groupError { _ = try other.receive(timeout: .seconds(300)) }?.code == .messageTooLarge)
        #expect(groupError { _ = try other.receive(timeout: .seconds(300)) } != nil)
    }

    @Test func roomIsMadeForWhatHasComeOnly() {
        var assembler = MessageAssembler(limit: 1 << 30)
        assembler.append([0, 0, 0, 0x3F])
        guard case .needs(let count) = assembler.next() else {
            Issue.record("a message out of nothing")
            return
        }
        #expect(count == 0x3F00_0000)
    }

    // MARK: Ends

    @Test func aFinishedPeerIsDistinguishedFromADeadOne() throws {
        for line in ["finish", "kill"] {
            let listener = try GroupSocketListener("ends", in: sandbox.container)
            let child = try sandbox.child("connect", "ends")
            let connection = try listener.accept(timeout: .seconds(300))
            #expect(try child.readLine() == "connected \(geteuid())")
            #expect(try child.ask("send 5") == "done")
            if line == "finish" { #expect(try child.ask("finish") == "done") } else { child.kill(SIGKILL) }
            #expect(try connection.receive(timeout: .seconds(300))?.count == 5)
            if line == "finish" {
                #expect(try connection.receive(timeout: .seconds(300)) == nil)
            } else {
                #expect(groupError { _ = try connection.receive(timeout: .seconds(300)) }?.code == .connectionLost)
            }
        }
    }

    @Test func sendingToADeadPeerIsAnErrorAndNoSignal() throws {
        let listener = try sandbox.child("listen", "dies")
        #expect(try listener.readLine() == "listening")
        let connection = try GroupSocketConnection(to: "dies", in: sandbox.container)
        listener.kill(SIGKILL)
        _ = try listener.finish()
        #expect(groupError { for _ in 0..<2 { try connection.send([1]) } }?.code == .connectionLost)
    }

    @Test func afterFinishingNothingIsSent() throws {
        let (one, other) = try pair()
        try one.finish()
        try one.finish()
        #expect(groupError { try one.send([1]) }?.code == .connectionLost)
        try other.send([2])
        #expect(try one.receive(timeout: .seconds(300)) == [2])
    }

    @Test func finishingThatTimedOutIsDoneByTheNextCall() throws {
        let (one, other) = try pair()
        var sent = 0
        while (try? one.send([], timeout: .zero)) != nil { sent += 1 }
        #expect(groupError { try one.finish(timeout: .milliseconds(5)) }?.code == .timeout)
        for _ in 0..<sent { #expect(try other.receive(timeout: .seconds(300)) == []) }
        try one.finish()
        #expect(try other.receive(timeout: .seconds(300)) == nil)
    }

    @Test func closingWakesWhoReceives() async throws {
        let (one, other) = try pair()
        let task = Task { try await one.receive() }
        one.close()
        let error = await #expect(throws: AppGroupError.self) { try await task.value }
        #expect(error?.code == .connectionLost)
        #expect(groupError { _ = try other.receive(timeout: .seconds(300)) }?.code == .connectionLost)
    }

    @Test func aReceiverWaitsForItsLimitAndKeepsWhatHasCome() throws {
        let (one, other) = try pair()
        #expect(groupError { _ = try other.receive(timeout: .milliseconds(5)) }?.code == .timeout)
        try one.send(bytes(10))
        #expect(try other.receive(timeout: .seconds(300)) == bytes(10))
    }

    @Test func aPeerThatDoesNotReceiveCostsTheSenderItsLimit() throws {
        let (one, other) = try pair(limit: 1 << 24)
        #expect(groupError { try one.send(bytes(1 << 24), timeout: .milliseconds(50)) }?.code == .timeout)
        // A part was sent, so later data could not be distinguished from the rest of it.
        #expect(groupError { try one.send([1]) }?.code == .connectionLost)
        #expect(groupError { _ = try other.receive(timeout: .seconds(300)) }?.code == .connectionLost)
    }

    @Test func cancellingTheTaskEndsTheWaiting() async throws {
        let (one, other) = try pair()
        let task = Task { try await one.receive() }
        task.cancel()
        let error = await #expect(throws: AppGroupError.self) { try await task.value }
        #expect(error?.code == .cancelled)
        try await other.send([1])
        #expect(try await one.receive(timeout: .seconds(300)) == [1])
    }

    // MARK: Listening

    @Test func theNameOfADeadListenerIsTakenOver() throws {
        let first = try sandbox.child("listen", "name")
        #expect(try first.readLine() == "listening")
        first.kill(SIGKILL)
        _ = try first.finish()
        #expect(groupError { _ = try GroupSocketConnection(to: "name", in: sandbox.container) }?.code == .nobodyListens)
        let second = try sandbox.child("listen", "name")
        #expect(try second.readLine() == "listening")
        _ = try GroupSocketConnection(to: "name", in: sandbox.container)
        #expect(try second.readLine() == "connected \(geteuid())")
    }

    @Test func theNameOfALivingListenerIsNotTakenOver() throws {
        let first = try sandbox.child("listen", "name")
        #expect(try first.readLine() == "listening")
        #expect(groupError { _ = try GroupSocketListener("name", in: sandbox.container) }?.code == .socketInUse)
        // A stopped listener still listens.
        first.kill(SIGSTOP)
        try first.waitUntilStopped()
        #expect(groupError { _ = try GroupSocketListener("name", in: sandbox.container) }?.code == .socketInUse)
        // The probe's connection does not disturb a live listener.
        let own = try GroupSocketListener("own", in: sandbox.container)
        #expect(groupError { _ = try GroupSocketListener("own", in: sandbox.container) }?.code == .socketInUse)
        #expect(groupError { _ = try own.accept(timeout: .zero) }?.code == .timeout)
    }

    @Test func ofManyThatBeginAtOnceOneListens() throws {
        let children = try (0..<6).map { _ in try sandbox.child("listen", "race") }
        let lines = try children.map { try $0.readLine(timeLimit: .seconds(300)) }
        #expect(lines.filter { $0 == "listening" }.count == 1)
        #expect(lines.filter { $0 == "socketInUse" }.count == 5)
    }

    @Test func closingTakesTheNameAwayUnlessItIsAnothersByNow() throws {
        let listener = try GroupSocketListener("name", in: sandbox.container)
        #expect(try SystemFile.mode(sandbox.path(".sockets/name")) == 0o600)
        listener.close()
        #expect(!SystemFile.exists(sandbox.path(".sockets/name")))
        #expect(groupError { _ = try listener.accept(timeout: .seconds(300)) }?.code == .connectionLost)
        let second = try GroupSocketListener("name", in: sandbox.container)
        #expect(unlink(sandbox.path(".sockets/name")) == 0)
        let third = try GroupSocketListener("name", in: sandbox.container)
        second.close()
        _ = try GroupSocketConnection(to: "name", in: sandbox.container)
        _ = try third.accept(timeout: .seconds(300))
    }

    @Test(arguments: ["file", "link", "directory", "fifo"]) func somethingElseUnderTheNameIsLeftAlone(
        thing: String
    ) throws {
        let listener = try GroupSocketListener("other", in: sandbox.container)
        let path = sandbox.path(".sockets/name")
        switch thing {
        case "file": try SystemFile.write(path, [1])
        case "link": try #require(symlink("other", path) == 0)
        case "directory": try #require(mkdir(path, 0o700) == 0)
        default: try #require(mkfifo(path, 0o600) == 0)
        }
        #expect(groupError { _ = try GroupSocketListener("name", in: sandbox.container) }?.code == .socketInUse)
        #expect(groupError { _ = try GroupSocketConnection(to: "name", in: sandbox.container) }?.code == .file)
        #expect(SystemFile.exists(path))
        #expect(groupError { _ = try listener.accept(timeout: .zero) }?.code == .timeout)
    }

    @Test func aPathThatIsTooLongForAnAddressIsReachedAnyway() throws {
        let long = sandbox.base + "/" + String(repeating: "d", count: 200)
        let container = try GroupContainer.open(sandbox.group, in: GroupsHome(root: long))
        let name = String(repeating: "n", count: 64)
        let listener = try GroupSocketListener(name, in: container)
        #expect(groupError { _ = try listener.path.linuxPath() }?.code == .ipcNameTooLong)
        #expect(groupError { _ = try listener.path.darwinPath() }?.code == .ipcNameTooLong)
        #expect(SystemFile.exists(listener.path.path))
        let one = try GroupSocketConnection(to: name, in: container)
        let other = try listener.accept(timeout: .seconds(300))
        try one.send([1])
        #expect(try other.receive(timeout: .seconds(300)) == [1])
    }

    @Test func aShortPathIsOneThatOtherProgramsCanUse() throws {
        let home = try TemporaryDirectory()
        let container = try GroupContainer.open(AppGroup("group.a"), in: GroupsHome(root: home.path))
        let listener = try GroupSocketListener("s", in: container)
        let path = try listener.path.linuxPath()
        #expect(shellStatus("test -S '\(path)'") == 0)
        try withExtendedLifetime(home) { _ = try GroupSocketConnection(to: "s", in: container) }
    }

    // MARK: Peers

    @Test func theRuleDecidesWhichPeersAreAccepted() throws {
        let refusing = try GroupSocketListener("refusing", in: sandbox.container, peers: .programs(["/usr/bin/true"]))
        let child = try sandbox.child("connect", "refusing")
        #expect(groupError { _ = try refusing.accept(timeout: .milliseconds(1)) } != nil)
        #expect(try child.readLine() == "connected \(geteuid())")
        #expect(groupError { _ = try refusing.accept(timeout: .milliseconds(1)) }?.code == .timeout)
        #expect(refusing.refusedConnections == 1)
        #expect(try child.ask("receive") == "connectionLost")
        let hearing = try GroupSocketListener(
            "hearing", in: sandbox.container, peers: .programs([builtProduct("sealed-probe")]))
        let heard = try sandbox.child("connect", "hearing")
        #expect(try hearing.accept(timeout: .seconds(300)).peer.processID == heard.pid)
    }

    @Test func aConnectorChecksTheListenerToo() throws {
        let listener = try sandbox.child("listen", "who")
        #expect(try listener.readLine() == "listening")
        let stranger = PeerRule.programs(["/usr/bin/true"])
        let error = groupError { _ = try GroupSocketConnection(to: "who", in: sandbox.container, peers: stranger) }
        #expect(error?.code == .peerRefused)
        let known = PeerRule.programs([builtProduct("sealed-probe")]).and(PeerRule { $0.processID == listener.pid })
        _ = try GroupSocketConnection(to: "who", in: sandbox.container, peers: known)
    }

    /// A client of another user that got access to the socket, through a directory with too wide a mode.
    @Test(.enabled(if: UnixUser.canBecome, "only root can become another user"))
    func anotherUserIsRefusedRegardlessOfTheModes() throws {
        let listener = try GroupSocketListener("open", in: sandbox.container)
        for path in ["", ".sockets", ".sockets/open"] { #expect(chmod(sandbox.path(path), 0o777) == 0) }
        for path in [sandbox.base, sandbox.root, sandbox.root + "/Containers"] { #expect(chmod(path, 0o755) == 0) }
        let script = "import socket,sys; s=socket.socket(socket.AF_UNIX); s.connect('open'); sys.exit(len(s.recv(1)))"
        let directory = sandbox.path(".sockets")
        let words = ["-c", "cd \"$0\" && exec \"$1\" -c \"$2\"", directory, Python.path, script]
        let eve = try UnixUser.eve.start("/bin/sh", words)
        while listener.refusedConnections == 0 {
            #expect(groupError { _ = try listener.accept(timeout: .milliseconds(10)) }?.code == .timeout)
        }
        #expect(try eve.finish().exitCode == 0)
    }

    // MARK: Tasks

    @Test func aListenerServesItsConnectionsOneAfterTheOther() async throws {
        let listener = try GroupSocketListener("tasks", in: sandbox.container)
        let server = Task {
            var served = 0
            for try await connection in listener.connections() {
                while let message = try await connection.receive() { try await connection.send(message) }
                try connection.finish()
                served += 1
            }
            return served
        }
        for number in 0..<3 {
            let connection = try await GroupSocketConnection.connect(to: "tasks", in: sandbox.container)
            try await connection.send([UInt8(number)])
            #expect(try await connection.receive(timeout: .seconds(300)) == [UInt8(number)])
            try connection.finish()
            #expect(try await connection.receive(timeout: .seconds(300)) == nil)
        }
        listener.close()
        #expect(try await server.value == 3)
    }

    /// More connections than threads for them: idle connections take no thread.
    @Test func idleConnectionsDoNotDelayOthers() async throws {
        let listener = try GroupSocketListener("idle", in: sandbox.container)
        let server = Task { () async throws -> [Task<Void, any Error>] in
            var echoes: [Task<Void, any Error>] = []
            for try await connection in listener.connections() {
                echoes.append(
                    Task { while let message = try await connection.receive() { try await connection.send(message) } })
            }
            return echoes
        }
        var connections: [GroupSocketConnection] = []
        for _ in 0..<150 {
            connections.append(try await .connect(to: "idle", in: sandbox.container, timeout: .seconds(300)))
        }
        let semaphore = try sandbox.semaphore(startingAt: 1)
        try await semaphore.wait(timeout: .seconds(300))
        for connection in [connections[149], connections[0]] {
            try await connection.send([1])
            #expect(try await connection.receive(timeout: .seconds(300)) == [1])
        }
        let cancelled = Task { [connection = connections[7]] in try await connection.receive() }
        cancelled.cancel()
        #expect(await #expect(throws: AppGroupError.self) { try await cancelled.value }?.code == .cancelled)
        connections = []
        listener.close()
        for echo in try await server.value { _ = await echo.result }
    }

    @Test func tasksTakeTurnsAtOneConnection() async throws {
        let (one, other) = try pair()
        let receivers = (0..<8).map { _ in Task { try await other.receive(timeout: .seconds(300)) } }
        for number in 0..<8 { try await one.send([UInt8(number)]) }
        var got: Set<[UInt8]?> = []
        for receiver in receivers { got.insert(try await receiver.value) }
        #expect(got.count == 8)
    }

    /// A large message in both directions through buffers that hold a part of it.
    @Test func tasksPassOnWhatDoesNotFitAtOnce() async throws {
        let (one, other) = try pair(limit: 1 << 24)
        let message = [UInt8](repeating: 7, count: 1 << 24)
        let sender = Task { try await one.send(message, timeout: .seconds(300)) }
        #expect(try await other.receive(timeout: .seconds(300)) == message)
        try await sender.value
        #expect(
            await #expect(throws: AppGroupError.self) { try await one.receive(timeout: .milliseconds(1)) }?.code
                == .timeout)
    }

    @Test func aListenerContinuesAfterDescriptorsWereShort() throws {
        let child = try sandbox.child("listen-few", "few", "40")
        #expect(try child.readLine() == "listening")
        var held: [GroupSocketConnection] = []
        for _ in 0..<60 { held.append(try GroupSocketConnection(to: "few", in: sandbox.container)) }
        // Longer than every unnecessary timer of the listener.
        #expect(groupError { _ = try held[59].receive(timeout: .milliseconds(2500)) }?.code == .timeout)
        held.removeSubrange(0..<59)
        try held[0].send([1])
        #expect(try held[0].receive(timeout: .seconds(300)) == [1])
    }
}
