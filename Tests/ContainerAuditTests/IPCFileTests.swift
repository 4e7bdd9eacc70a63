import AppGroups
import ContainerAudit
import Glibc
import GroupIPC
import SharedFiles
import TestSupport
import Testing

/// Tests of the files of semaphores, shared memory and sockets in a container that is in use.
@Suite struct IPCFileTests {
    private let sandbox: AuditSandbox

    init() throws {
        sandbox = try AuditSandbox()
        try sandbox.filled()
    }

    private func container() throws -> GroupContainer { try GroupContainer.open(sandbox.group, in: sandbox.home) }

    @Test func aContainerInUseHasNoFinding() throws {
        let container = try container()
        defer { _ = try? container.removeKernelObjects() }
        _ = try GroupSemaphore("s", in: container)
        _ = try GroupSharedMemory("m", in: container, capacity: 10)
        _ = try GroupSharedMemory("b", in: container, capacity: 10, layout: .bytes)
        let listener = try GroupSocketListener("helper", in: container)
        let report = try sandbox.audit()
        #expect(report.ids == [])
        for path in [".ipc/s.sem", ".ipc/m.shm", ".ipc/b.shm", ".sockets/helper"] {
            #expect(report.file(path)?.kind == .signal)
        }
        #expect(report.file(".ipc/.lock")?.kind == .lockFile)
        #expect(report.file(".sockets/.lock")?.kind == .lockFile)
        listener.close()
    }

    @Test(arguments: [".ipc/s.sem", ".ipc/.lock", ".ipc/note", ".ipc/.s.sem.new", ".sockets/s", ".sockets/.lock"])
    func plaintextThereIsPlaintext(path: String) throws {
        try sandbox.put(path, "{\"token\": \"secret\"}")
        let report = try sandbox.audit()
        #expect(report.ids == ["plaintext.file"] && report.file(path)?.kind != .signal)
    }

    @Test func bytesThatAreAlmostARecordAreBytes() throws {
        let container = try container()
        _ = try GroupSemaphore("s", in: container)
        let record = try SystemFile.read(sandbox.path(".ipc/s.sem"))
        _ = try container.removeKernelObjects()
        try sandbox.put(".ipc/s.shm", record)
        try sandbox.put(".ipc/t.sem", record + [0])
        try sandbox.put("s.sem", record)
        let report = try sandbox.audit()
        for path in [".ipc/s.shm", ".ipc/t.sem", "s.sem"] { #expect(report.file(path)?.kind != .signal) }
    }

    @Test(arguments: [".ipc/s.sem", ".sockets/.hidden"]) func aSocketElsewhereIsASpecialFile(path: String) throws {
        try sandbox.put(".ipc/.lock", [])
        try sandbox.put(".sockets/.lock", [])
        try #require(mknod(sandbox.path(path), S_IFSOCK | 0o600, 0) == 0)
        #expect(try sandbox.audit().ids == ["special.file"])
    }
}
