import Glibc
import GroupIPC
import SharedFiles
import TestSupport
import Testing

@testable import AppGroups

/// Tests of semaphores, memory and sockets of a container that a unix group shares, each member in a process of its
/// own.
@Suite(.enabled(if: UnixUser.canBecome, "only root can become another user"), .timeLimit(.minutes(10)))
struct SharedIPCTests {
    /// A member whose primary unix group is the team, as `Group=` of a service makes it.
    static let primary = UnixUser(uid: 4701, gid: UnixUser.team)

    private let place: TemporaryDirectory
    private let group: AppGroup

    private var root: String { place.path("top/home") }
    private func path(_ relative: String) -> String { "\(root)/Containers/\(group)/\(relative)" }

    init() throws {
        place = try TemporaryDirectory()
        group = try AppGroup("group.team")
        #expect(chmod(place.path, 0o755) == 0)
        try place.directory("top")
        #expect(chown(place.path("top"), 0, UnixUser.team) == 0)
        #expect(chmod(place.path("top"), 0o2770) == 0)
        _ = try GroupContainer.open(group, in: GroupsHome(root: root), sharing: .unixGroup(UnixUser.team))
    }

    private func start(_ user: UnixUser, _ command: String, _ arguments: String...) throws -> ChildProcess {
        try user.start("sealed-probe", ["ipc-" + command, root, group.identifier] + arguments)
    }

    private func cleaned() throws {
        try GroupContainer.open(group, in: GroupsHome(root: root)).removeKernelObjects()
    }

    @Test func membersUseWhatOneOfThemMade() throws {
        let ada = try start(Self.primary, "semaphore", "s", "2")
        #expect(try ada.readLine() == "open 2")
        let bob = try start(.bob, "semaphore", "s", "9")
        #expect(try bob.readLine() == "open 2")
        #expect(try bob.ask("wait 0") == "done")
        #expect(try ada.ask("value") == "1")
        let memory = try start(Self.primary, "memory", "m", "100")
        #expect(try memory.readLine() == "open")
        #expect(try memory.ask("write 7 50") == "done")
        let reader = try start(.bob, "memory", "m", "100")
        #expect(try reader.readLine() == "open")
        #expect(try reader.ask("read") == "50 7")
        #expect(try reader.ask("write 8 60") == "done")
        #expect(try memory.ask("read") == "60 8")
        try cleaned()
    }

    @Test func onlyItsMakerRemovesIt() throws {
        let ada = try start(Self.primary, "semaphore", "s", "2")
        #expect(try ada.readLine() == "open 2")
        let bob = try start(.bob, "unlink", "s")
        #expect(try bob.readLine() == "ipcNotOwner")
        #expect(try ada.ask("value") == "2")
        #expect(SystemFile.exists(path(".ipc/s.sem")))
        let other = try start(Self.primary, "unlink", "s")
        #expect(try other.readLine() == "done")
        #expect(try ada.ask("value") == "ipcRemoved")
    }

    /// The kernel shows a process's program only to its own user and root.
    @Test func anotherUsersProgramCannotBeIdentified() throws {
        let ada = try start(.ada, "listen", "s")
        #expect(try ada.readLine() == "listening")
        let bob = try start(.bob, "connect", "s", builtProduct("sealed-probe"))
        #expect(try bob.readLine() == "peerUnknown")
    }

    /// A member's record that names the memory of another program of this user, which begins with zeros, as most does,
    /// or with values that the member knows.
    @Test(arguments: ["a mark", "no mark", "its mark"]) func aForgedRecordDestroysNothingOfAnotherProgram(
        mark: String
    ) throws {
        let container = try GroupContainer.open(group, in: GroupsHome(root: root))
        _ = try GroupSharedMemory("m", in: container, capacity: 4032, layout: .bytes)
        var bytes = try SystemFile.read(path(".ipc/m.shm"))
        try GroupSharedMemory.unlink("m", in: container)
        let key = key_t.random(in: 1...(.max))
        let victim = shmget(key, 4096, IPC_CREAT | IPC_EXCL | 0o600)
        try #require(victim >= 0)
        defer { removeFromKernel("-m", victim) }
        let address = try #require(shmat(victim, nil, 0))
        defer { shmdt(address) }
        withUnsafeBytes(of: key.littleEndian) { bytes.replaceSubrange(12..<16, with: $0) }
        if mark == "no mark" { bytes.replaceSubrange(40..<56, with: [UInt8](repeating: 0, count: 16)) }
        if mark == "its mark" {
            UnsafeMutableRawBufferPointer(start: address, count: 16).copyBytes(from: bytes[40..<56])
        }
        try SystemFile.write(path(".ipc/m.shm"), bytes)
        #expect(chown(path(".ipc/m.shm"), UnixUser.ada.uid, UnixUser.team) == 0)
        do throws(AppGroupError) {
            let memory = try GroupSharedMemory("m", in: container, capacity: 4032, layout: .bytes)
            try memory.withUnsafeMutableBytes { $0[0] = 77 }
        } catch {
            #expect(error.code == .ipcDamaged && mark == "no mark")
        }
        #expect(UnsafeRawBufferPointer(start: address, count: 4096)[IPCStamp.size...].allSatisfy { $0 == 0 })
        #expect(shmget(key, 0, 0) == victim)
        try cleaned()
        #expect(shmget(key, 0, 0) == victim)
    }

    /// The kernel would also open it to the primary group of its creator, permanently.
    @Test func aPrimaryGroupOfOthersCreatesNothing() throws {
        for command in ["semaphore", "memory"] {
            let ada = try start(.ada, command, "x", "5")
            #expect(try ada.readLine() == "ipcNotShareable")
        }
        #expect(!(try SystemFile.names(path(".ipc")).contains { $0.hasPrefix("x.") }))
    }

    @Test func aNonmemberGetsNothing() throws {
        let ada = try start(Self.primary, "semaphore", "s", "1")
        #expect(try ada.readLine() == "open 1")
        let eve = try start(.eve, "semaphore", "s", "1")
        #expect(try eve.readLine()?.hasPrefix("file permissionDenied") == true)
        // The kernel's own interface refuses as well.
        let bytes = try SystemFile.read(path(".ipc/s.sem"))
        let key = Int32(bitPattern: try #require(IPCRecord(bytes)).key)
        let script =
            "import ctypes,sys; c=ctypes.CDLL(None,use_errno=True); i=c.semget(\(key),0,0); "
            + "sys.exit(0 if c.semctl(i,0,12)<0 and ctypes.get_errno()==13 else 1)"
        #expect(try UnixUser.eve.run(Python.path, ["-c", script]).exitCode == 0)
        _ = try ada.finish()
        try cleaned()
    }

    @Test func membersOfTheGroupConnectAndOthersDoNot() throws {
        let ada = try start(.ada, "listen", "s")
        #expect(try ada.readLine() == "listening")
        #expect(try SystemFile.mode(path(".sockets/s")) & 0o777 == 0o660)
        let bob = try start(.bob, "connect", "s")
        #expect(try bob.readLine() == "connected \(UnixUser.ada.uid)")
        #expect(try ada.readLine() == "connected \(UnixUser.bob.uid)")
        #expect(try bob.ask("send 3") == "done")
        #expect(try bob.ask("receive") == "3")
        let eve = try start(.eve, "connect", "s")
        #expect(try eve.readLine()?.hasPrefix("file permissionDenied") == true)
    }

    @Test func aMembersListenerThatDiedIsReplacedByAnothers() throws {
        let ada = try start(.ada, "listen", "s")
        #expect(try ada.readLine() == "listening")
        ada.kill(SIGKILL)
        _ = try ada.finish()
        let bob = try start(.bob, "listen", "s")
        #expect(try bob.readLine() == "listening")
        let other = try start(.ada, "connect", "s")
        #expect(try other.readLine() == "connected \(UnixUser.bob.uid)")
    }
}
