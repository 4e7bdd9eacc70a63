import AppGroups
import ContainerAudit
import Glibc
import GroupIPC
import SharedFiles
import TestSupport
import Testing

/// Tests of the files of semaphores, shared memory and sockets in a container that is in use.
@Suite struct IPCFileTests {
    private let yard: AuditYard

    init() throws {
        yard = try AuditYard()
        try yard.filled()
    }

    private func container() throws -> GroupContainer { try GroupContainer.open(yard.group, in: yard.home) }

    @Test func aContainerInUseHasNoFinding() throws {
        let container = try container()
        defer { _ = try? container.removeKernelObjects() }
        _ = try GroupSemaphore("s", in: container)
        _ = try GroupSharedMemory("m", in: container, capacity: 10)
        _ = try GroupSharedMemory("b", in: container, capacity: 10, layout: .bytes)
        let listener = try GroupSocketListener("helper", in: container)
        let report = try yard.audit()
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
        try yard.put(path, "{\"token\": \"secret\"}")
        let report = try yard.audit()
        #expect(report.ids == ["plaintext.file"] && report.file(path)?.kind != .signal)
    }

    @Test func bytesThatAreAlmostARecordAreBytes() throws {
        let container = try container()
        _ = try GroupSemaphore("s", in: container)
        let record = try SystemFile.read(yard.path(".ipc/s.sem"))
        _ = try container.removeKernelObjects()
        try yard.put(".ipc/s.shm", record)
        try yard.put(".ipc/t.sem", record + [0])
        try yard.put("s.sem", record)
        let report = try yard.audit()
        for path in [".ipc/s.shm", ".ipc/t.sem", "s.sem"] { #expect(report.file(path)?.kind != .signal) }
    }

    @Test(arguments: [".ipc/s.sem", ".sockets/.hidden"]) func aSocketElsewhereIsASpecialFile(path: String) throws {
        try yard.put(".ipc/.lock", [])
        try yard.put(".sockets/.lock", [])
        try #require(mknod(yard.path(path), S_IFSOCK | 0o600, 0) == 0)
        #expect(try yard.audit().ids == ["special.file"])
    }
}
