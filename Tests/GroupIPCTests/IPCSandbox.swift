import Glibc
import GroupIPC
import SharedFiles
import SystemPackage
import TestSupport
import Testing

@testable import AppGroups

/// A home with one group, its open container, and children that use its IPC. Their kernel objects are removed with it.
final class IPCSandbox: Sendable {
    private let temporary: TemporaryDirectory
    let home: GroupsHome
    let group: AppGroup
    let container: GroupContainer

    init() throws {
        temporary = try TemporaryDirectory()
        // Characters that a careless command fails on.
        home = GroupsHome(root: temporary.path + "/it's a $home")
        group = try AppGroup("group.ipc")
        container = try GroupContainer.open(group, in: home)
    }

    deinit { _ = try? container.removeKernelObjects() }

    var base: String { temporary.path }
    var root: String { home.containersPath.removingLastComponent().string }

    func path(_ relative: String) -> String {
        home.containersPath.appending(group.identifier).appending(relative).string
    }

    func child(_ command: String, _ arguments: String...) throws -> ChildProcess {
        try ChildProcess("sealed-probe", words(command, arguments))
    }

    func words(_ command: String, _ arguments: [String]) -> [String] {
        ["ipc-" + command, root, group.identifier] + arguments
    }

    func semaphore(
        _ name: String = "s", startingAt value: Int = 1, creating: Bool = true
    ) throws(AppGroupError) -> GroupSemaphore {
        try GroupSemaphore(name, in: container, startingAt: value, creating: creating)
    }

    func memory(
        _ name: String = "m", capacity: Int? = 1000, _ layout: GroupSharedMemory.Layout = .value, creating: Bool = true
    ) throws(AppGroupError) -> GroupSharedMemory {
        try GroupSharedMemory(name, in: container, capacity: capacity, layout: layout, creating: creating)
    }

    /// Returns the container's record of a name.
    func record(_ file: String) throws -> IPCRecord {
        try #require(IPCRecord(try SystemFile.read(path(".ipc/\(file)"))))
    }
}

extension ChildProcess {
    /// Sends a line and returns the child's answer.
    func ask(_ line: String) throws -> String? {
        try write(line + "\n")
        return try readLine(timeLimit: .seconds(300))
    }
}

/// Runs ipcrm(1), as any process that knows an object's number can.
func removeFromKernel(_ option: String, _ id: Int32) { #expect(shellStatus("ipcrm \(option) \(id)") == 0) }

/// Returns the exit status of a shell command, or `nil` if it could not be started.
func shellStatus(_ command: String) -> Int32? { try? ChildProcess.run("/bin/sh", ["-c", command]).exitCode }

/// Returns the error of a body that must fail with one.
@discardableResult
func groupError(_ body: () throws -> Void, sourceLocation: SourceLocation = #_sourceLocation) -> AppGroupError? {
    #expect(throws: AppGroupError.self, sourceLocation: sourceLocation) { try body() }
}
