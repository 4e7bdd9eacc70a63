import Glibc
import SharedFiles
import TestSupport
import Testing

@testable import AppGroups
@testable import GroupIPC

/// Tests of attacks by a member of the group or a stranger: other members get errors, and their objects are not
/// touched.
@Suite(.timeLimit(.minutes(10))) struct IPCHostilityTests {
    private let sandbox: IPCSandbox

    init() throws { sandbox = try IPCSandbox() }

    // MARK: Records

    @Test(arguments: [0, 1, 64, 71, 73, 4096]) func aRecordOfAnotherLengthIsRefusedAndKept(count: Int) throws {
        let semaphore = try sandbox.semaphore(startingAt: 2)
        let bytes = Array(
            (try SystemFile.read(sandbox.path(".ipc/s.sem")) + [UInt8](repeating: 0, count: 4096)).prefix(count))
        try SystemFile.write(sandbox.path(".ipc/s.sem"), bytes)
        #expect(groupError { _ = try sandbox.semaphore() }?.code == .ipcDamaged)
        #expect(groupError { _ = try sandbox.semaphore(creating: false) }?.code == .ipcDamaged)
        #expect(try SystemFile.read(sandbox.path(".ipc/s.sem")) == bytes)
        // A process that has it open continues.
        try semaphore.post()
        #expect(try semaphore.value == 3)
        removeFromKernel("-s", semaphore.kernel.id)
    }

    @Test(arguments: [0, 8, 9, 12]) func aRecordWithAChangedFieldIsRefused(offset: Int) throws {
        let semaphore = try sandbox.semaphore()
        var bytes = try SystemFile.read(sandbox.path(".ipc/s.sem"))
        if offset == 12 { bytes.replaceSubrange(12..<16, with: [0, 0, 0, 0]) } else { bytes[offset] ^= 0x55 }
        try SystemFile.write(sandbox.path(".ipc/s.sem"), bytes)
        #expect(groupError { _ = try sandbox.semaphore() }?.code == .ipcDamaged)
        removeFromKernel("-s", semaphore.kernel.id)
    }

    @Test func aDamagedRecordIsRemovedWhenThatIsAskedFor() throws {
        let semaphore = try sandbox.semaphore(startingAt: 2)
        try SystemFile.write(sandbox.path(".ipc/s.sem"), [1])
        try GroupSemaphore.unlink("s", in: sandbox.container)
        #expect(try sandbox.semaphore(startingAt: 5).value == 5)
        removeFromKernel("-s", semaphore.kernel.id)
    }

    @Test(.timeLimit(.minutes(2)), arguments: ["link", "fifo", "directory", "socket", "second name"])
    func somethingElseUnderTheNameIsRefusedAndLeftAlone(thing: String) throws {
        let other = try sandbox.semaphore("other")
        defer { withExtendedLifetime(other) {} }
        let path = sandbox.path(".ipc/s.sem")
        let made =
            switch thing {
            case "link": symlink("other.sem", path)
            case "fifo": mkfifo(path, 0o600)
            case "directory": mkdir(path, 0o700)
            case "socket": mknod(path, S_IFSOCK | 0o600, 0)
            default: link(sandbox.path(".ipc/other.sem"), path)
            }
        try #require(made == 0)
        #expect(groupError { _ = try sandbox.semaphore() }?.code == .ipcDamaged)
        #expect(SystemFile.exists(path))
    }

    @Test func aRecordThatPointsAtAStrangersObjectDoesNotLeadThere() throws {
        let victim = semget(0x5EA1ED, KernelSemaphore.count, IPC_CREAT | IPC_EXCL | 0o600)
        try #require(victim >= 0)
        defer { removeFromKernel("-s", victim) }
        _ = try sandbox.semaphore("s")
        var record = try sandbox.record("s.sem")
        try GroupSemaphore.unlink("s", in: sandbox.container)
        record.key = 0x5EA1ED
        try SystemFile.write(sandbox.path(".ipc/s.sem"), record.bytes)
        var operation = sembuf(sem_num: 0, sem_op: 5, sem_flg: 0)
        #expect(semop(victim, &operation, 1) == 0)
        #expect(groupError { _ = try sandbox.semaphore(creating: false) }?.code == .ipcMissing)
        let semaphore = try sandbox.semaphore(startingAt: 1)
        #expect(semaphore.kernel.id != victim)
        try GroupSemaphore.unlink("s", in: sandbox.container)
        // The process still has its permits.
        operation = sembuf(sem_num: 0, sem_op: -5, sem_flg: Int16(IPC_NOWAIT))
        #expect(semop(victim, &operation, 1) == 0)
    }

    /// A stranger who sees the public key creates an object of that key before this process does.
    @Test func anObjectThatOthersMayUseIsNotUsed() throws {
        let semaphore = try sandbox.semaphore(startingAt: 1)
        let record = try sandbox.record("s.sem")
        removeFromKernel("-s", semaphore.kernel.id)
        let planted = semget(key_t(bitPattern: record.key), KernelSemaphore.count, IPC_CREAT | IPC_EXCL | 0o666)
        try #require(planted >= 0)
        defer { removeFromKernel("-s", planted) }
        // Without the mark it is another program's object, so a new one is created.
        #expect(try sandbox.semaphore(startingAt: 4).value == 4)
        #expect(try sandbox.record("s.sem").key != record.key)
    }

    @Test func aMarkedObjectThatWasOpenedToOthersIsRefused() throws {
        let semaphore = try sandbox.semaphore(startingAt: 1)
        #expect(semaphore.kernel.give(owner: geteuid(), group: getegid(), mode: 0o666) == 0)
        #expect(groupError { _ = try sandbox.semaphore() }?.code == .ipcUntrusted)
        // The documented recovery.
        try GroupSemaphore.unlink("s", in: sandbox.container)
        #expect(groupError { try semaphore.post() }?.code == .ipcRemoved)
        #expect(try sandbox.semaphore(startingAt: 4).value == 4)
    }

    @Test(arguments: [0o400, 0o200, 0o700] as [UInt32]) func anObjectOfAnotherModeIsRefused(mode: UInt32) throws {
        let semaphore = try sandbox.semaphore(startingAt: 1)
        #expect(semaphore.kernel.give(owner: geteuid(), group: getegid(), mode: mode) == 0)
        defer { removeFromKernel("-s", semaphore.kernel.id) }
        let code = groupError { _ = try sandbox.semaphore(creating: false) }?.code
        #expect(code == .ipcUntrusted || code == .ipcMissing)
    }

    @Test func theRecordOfAnotherNameHasNoEffect() throws {
        let other = try sandbox.semaphore("other", startingAt: 3)
        try SystemFile.write(sandbox.path(".ipc/s.sem"), try SystemFile.read(sandbox.path(".ipc/other.sem")))
        #expect(groupError { _ = try sandbox.semaphore() }?.code == .ipcDamaged)
        try GroupSemaphore.unlink("s", in: sandbox.container)
        #expect(try other.value == 3)
    }

    @Test func removingAllContinuesAfterOneThatFails() throws {
        let semaphore = try sandbox.semaphore("z")
        _ = try sandbox.semaphore("b")
        try #require(mkdir(sandbox.path(".ipc/a.sem"), 0o700) == 0)
        #expect(groupError { try sandbox.container.removeKernelObjects() } != nil)
        #expect(groupError { try semaphore.post() }?.code == .ipcRemoved)
        #expect(!SystemFile.exists(sandbox.path(".ipc/b.sem")))
        #expect(rmdir(sandbox.path(".ipc/a.sem")) == 0)
    }

    @Test func aDirectoryThatOthersMayWriteIsRefused() throws {
        _ = try sandbox.semaphore()
        #expect(chmod(sandbox.path(".ipc"), 0o777) == 0)
        #expect(groupError { _ = try sandbox.semaphore() }?.code == .unsafeContainer)
        #expect(chmod(sandbox.path(".ipc"), 0o700) == 0)
    }

    @Test func aLinkInPlaceOfTheDirectoryIsNotFollowed() throws {
        let elsewhere = sandbox.base + "/elsewhere"
        #expect(mkdir(elsewhere, 0o700) == 0)
        #expect(symlink(elsewhere, sandbox.path(".ipc")) == 0)
        #expect(groupError { _ = try sandbox.semaphore() }?.code == .notADirectory)
        #expect(try SystemFile.names(elsewhere) == [])
    }

    // MARK: Memory

    /// A reader of mapped memory dies when another process shortens the file behind it. This memory has no such file.
    @Test func nothingThatIsDoneToTheRecordReachesWhoHasTheMemoryOpen() throws {
        let memory = try sandbox.memory()
        try memory.write([1, 2, 3])
        let child = try sandbox.child("memory", "m", "1000")
        #expect(try child.readLine() == "open")
        let path = sandbox.path(".ipc/m.shm")
        let bytes = try SystemFile.read(path)
        #expect(truncate(path, 0) == 0)
        #expect(try child.ask("write 7 900") == "done")
        #expect(try memory.read() == [UInt8](repeating: 7, count: 900))
        #expect(unlink(path) == 0)
        #expect(try child.ask("read") == "900 7")
        try SystemFile.write(path, bytes)
        #expect(try sandbox.memory(creating: false).read()?.count == 900)
    }

    @Test func aSmallerObjectOfThatKeyIsNotAttachedAsALargerOne() throws {
        let memory = try sandbox.memory(capacity: 100_000)
        let record = try sandbox.record("m.shm")
        let id = shmget(key_t(bitPattern: record.key), 0, 0)
        withExtendedLifetime(memory) { removeFromKernel("-m", id) }
        let planted = shmget(key_t(bitPattern: record.key), 4096, IPC_CREAT | IPC_EXCL | 0o600)
        // While a process is attached, the old one has no key.
        try #require(planted >= 0)
        defer { removeFromKernel("-m", planted) }
        let address = try #require(shmat(planted, nil, 0))
        UnsafeMutableRawBufferPointer(start: address, count: 4096).copyBytes(from: record.stamp.bytes)
        #expect(shmdt(address) == 0)
        let reopened = try sandbox.memory(capacity: 100_000)
        try reopened.write([UInt8](repeating: 1, count: 100_000))
        #expect(try reopened.read()?.count == 100_000)
        #expect(groupError { _ = try memory.read() }?.code == .ipcRemoved)
    }

    @Test func aLengthThatAMemberMadeUpIsRefusedAndRepaired() throws {
        let memory = try sandbox.memory(capacity: 100)
        try memory.write([1])
        let id = shmget(key_t(bitPattern: try sandbox.record("m.shm").key), 0, 0)
        let address = try #require(shmat(id, nil, 0))
        for length in [UInt64(101), .max, 1 << 40] {
            address.storeBytes(of: length, toByteOffset: 40, as: UInt64.self)
            address.storeBytes(of: length, toByteOffset: 48, as: UInt64.self)
            #expect(groupError { _ = try memory.read() }?.code == .ipcDamaged)
        }
        // The generation does not matter: only its parity counts.
        address.storeBytes(of: UInt64.max, toByteOffset: 32, as: UInt64.self)
        #expect(groupError { _ = try memory.read() }?.code == .ipcDamaged)
        #expect(shmdt(address) == 0)
        for value: [UInt8] in [[2], [3], [4]] {
            try memory.write(value)
            #expect(try memory.read() == value)
        }
    }

    @Test func aPlainRemovalIsSeenByTheNextCall() throws {
        let memory = try sandbox.memory()
        try memory.write([1])
        removeFromKernel("-m", shmget(key_t(bitPattern: try sandbox.record("m.shm").key), 0, 0))
        #expect(groupError { _ = try memory.read() }?.code == .ipcRemoved)
        #expect(groupError { try memory.write([2]) }?.code == .ipcRemoved)
        #expect(try sandbox.memory().read() == nil)
    }
}
