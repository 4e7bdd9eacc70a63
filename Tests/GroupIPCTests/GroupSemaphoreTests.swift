import Glibc
import SharedFiles
import TestSupport
import Testing

@testable import AppGroups
@testable import GroupIPC

/// Tests of semaphores within a process, and between processes that are killed.
@Suite(.timeLimit(.minutes(10))) struct GroupSemaphoreTests {
    private let sandbox: IPCSandbox

    init() throws { sandbox = try IPCSandbox() }

    // MARK: Values

    @Test func theFirstOneGivesTheValueAndOthersKeepIt() throws {
        let first = try sandbox.semaphore(startingAt: 3)
        let second = try sandbox.semaphore(startingAt: 7)
        #expect(try second.value == 3)
        try first.post()
        #expect(try second.value == 4)
    }

    @Test func aTakenCountIsUnavailableUntilItIsPosted() throws {
        let semaphore = try sandbox.semaphore(startingAt: 1)
        #expect(try semaphore.tryWait())
        #expect(try !semaphore.tryWait())
        #expect(groupError { try semaphore.wait(timeout: .milliseconds(1)) }?.code == .timeout)
        try semaphore.post()
        try semaphore.wait(timeout: .seconds(300))
        #expect(try semaphore.value == 0)
    }

    @Test(arguments: [-1, 32_768]) func aValueOutOfRangeIsRefused(value: Int) throws {
        #expect(groupError { _ = try sandbox.semaphore(startingAt: value) }?.code == .ipcOverflow)
        #expect(groupError { _ = try sandbox.semaphore(creating: false) }?.code == .ipcMissing)
    }

    @Test func aPostBeyondTheHighestValueIsRefused() throws {
        let semaphore = try sandbox.semaphore(startingAt: 32_767)
        #expect(groupError { try semaphore.post() }?.code == .ipcOverflow)
        #expect(try semaphore.value == 32_767)
    }

    @Test func aPermitIsGivenBackWhenItEnds() throws {
        let semaphore = try sandbox.semaphore(startingAt: 1)
        let permit = try semaphore.permit()
        #expect(try semaphore.value == 0)
        permit.end()
        #expect(try semaphore.value == 1)
    }

    @Test func namesAndGroupsAreKeptApart() throws {
        let one = try sandbox.semaphore("a", startingAt: 1)
        let other = try sandbox.semaphore("b", startingAt: 5)
        let group = try AppGroup("group.ipc2")
        let elsewhere = try GroupContainer.open(group, in: sandbox.home)
        let foreign = try GroupSemaphore("a", in: elsewhere, startingAt: 9)
        defer { _ = try? elsewhere.removeKernelObjects() }
        try one.wait()
        #expect(try other.value == 5)
        #expect(try foreign.value == 9)
    }

    // MARK: Life

    @Test func withoutCreationNothingIsMade() throws {
        #expect(groupError { _ = try sandbox.semaphore(creating: false) }?.code == .ipcMissing)
        #expect(!SystemFile.exists(sandbox.path(".ipc")))
        _ = try sandbox.semaphore("other")
        #expect(groupError { _ = try sandbox.semaphore(creating: false) }?.code == .ipcMissing)
    }

    @Test func unlinkingRemovesItForEveryProgram() throws {
        let semaphore = try sandbox.semaphore(startingAt: 2)
        try GroupSemaphore.unlink("s", in: sandbox.container)
        #expect(groupError { try semaphore.post() }?.code == .ipcRemoved)
        #expect(groupError { _ = try semaphore.value }?.code == .ipcRemoved)
        #expect(groupError { try semaphore.wait(timeout: .zero) }?.code == .ipcRemoved)
        try GroupSemaphore.unlink("s", in: sandbox.container)
        #expect(try sandbox.semaphore(startingAt: 6).value == 6)
    }

    @Test func aWaitingProcessIsNotifiedOfTheRemoval() throws {
        _ = try sandbox.semaphore(startingAt: 0)
        let child = try sandbox.child("semaphore", "s", "0")
        #expect(try child.readLine() == "open 0")
        try child.write("wait 300000\n")
        try GroupSemaphore.unlink("s", in: sandbox.container)
        #expect(try child.readLine(timeLimit: .seconds(300)) == "ipcRemoved")
    }

    @Test func anObjectThatTheSystemRemovedIsCreatedAgainAndOldHandlesFail() throws {
        let semaphore = try sandbox.semaphore(startingAt: 2)
        removeFromKernel("-s", semaphore.kernel.id)
        #expect(groupError { try semaphore.post() }?.code == .ipcRemoved)
        #expect(groupError { _ = try sandbox.semaphore(creating: false) }?.code == .ipcMissing)
        #expect(try sandbox.semaphore(startingAt: 4).value == 4)
    }

    @Test func aRecordOfBeforeTheRestartHasNoEffect() throws {
        let semaphore = try sandbox.semaphore(startingAt: 2)
        var record = try sandbox.record("s.sem")
        record.place = KernelPlace(boot: [UInt8](repeating: 9, count: 16), namespace: record.place.namespace)
        try SystemFile.write(sandbox.path(".ipc/s.sem"), record.bytes)
        defer { removeFromKernel("-s", semaphore.kernel.id) }
        #expect(groupError { _ = try sandbox.semaphore(creating: false) }?.code == .ipcMissing)
        #expect(try sandbox.semaphore(startingAt: 5).value == 5)
        // The other semaphore may now belong to another program, so it was left alone.
        #expect(try semaphore.value == 2)
    }

    @Test func aRecordOfAnotherNamespaceIsNotReplaced() throws {
        let semaphore = try sandbox.semaphore(startingAt: 2)
        let good = try sandbox.record("s.sem")
        var record = good
        record.place = KernelPlace(boot: good.place.boot, namespace: good.place.namespace + 1)
        try SystemFile.write(sandbox.path(".ipc/s.sem"), record.bytes)
        #expect(groupError { _ = try sandbox.semaphore() }?.code == .ipcElsewhere)
        // A user who knows that the other namespace is gone can unlink the name; the objects in it are not touched.
        try GroupSemaphore.unlink("s", in: sandbox.container)
        #expect(try sandbox.semaphore(startingAt: 5).value == 5)
        #expect(try semaphore.value == 2)
        removeFromKernel("-s", semaphore.kernel.id)
    }

    // MARK: Other processes

    @Test func anotherProcessWakesTheOneThatWaits() throws {
        let semaphore = try sandbox.semaphore(startingAt: 0)
        let child = try sandbox.child("semaphore", "s", "1")
        #expect(try child.readLine() == "open 0")
        try child.write("wait 300000\n")
        try semaphore.post()
        #expect(try child.readLine(timeLimit: .seconds(300)) == "done")
        #expect(try semaphore.value == 0)
    }

    /// Holder                   | waiter
    /// permit                   |
    ///                          | permit 300 s
    /// SIGKILL                  |
    ///                          | has it
    @Test func thePermitOfAKilledProcessGoesToTheNext() throws {
        let semaphore = try sandbox.semaphore(startingAt: 1)
        let holder = try sandbox.child("semaphore", "s", "1")
        #expect(try holder.readLine() == "open 1")
        #expect(try holder.ask("permit 0") == "done")
        let waiter = try sandbox.child("semaphore", "s", "1")
        #expect(try waiter.readLine() == "open 0")
        #expect(try waiter.ask("permit 1") == "timeout")
        try waiter.write("permit 300000\n")
        holder.kill(SIGKILL)
        #expect(try waiter.readLine(timeLimit: .seconds(300)) == "done")
        _ = try waiter.finish()
        #expect(try semaphore.value == 1)
    }

    @Test func aCountTakenByAKilledProcessWithoutAPermitStaysTaken() throws {
        let semaphore = try sandbox.semaphore(startingAt: 1)
        let holder = try sandbox.child("semaphore", "s", "1")
        #expect(try holder.readLine() == "open 1")
        #expect(try holder.ask("wait 0") == "done")
        holder.kill(SIGKILL)
        _ = try holder.finish()
        #expect(try semaphore.value == 0)
    }

    @Test func onlyOnePermitAtATimeIsOut() async throws {
        let file = sandbox.path("count")
        try SystemFile.write(file, [])
        let children = try (0..<4).map { _ in try sandbox.child("semaphore-count", "mutex", file, "500") }
        for child in children { #expect(try child.finish(timeLimit: .seconds(500)).outputText == "done\n") }
        #expect(String(decoding: try SystemFile.read(file), as: UTF8.self) == "2000")
    }

    @Test func manyThatMakeItAtOnceGetTheSame() throws {
        let children = try (0..<8).map { _ in try sandbox.child("semaphore", "new", "0") }
        for child in children { #expect(try child.readLine(timeLimit: .seconds(300)) != nil) }
        for child in children { #expect(try child.ask("post") == "done") }
        #expect(try sandbox.semaphore("new", creating: false).value == 8)
    }

    /// If its creator is killed at any call, the next process gets a semaphore with its value, and the kernel keeps no
    /// other.
    @Test(.enabled(if: TracedProcess.isPossible, "needs strace and the right to trace"))
    func aKilledMakerLeavesNothingBehind() throws {
        _ = try sandbox.semaphore("first")
        let traced = TracedProcess(sandbox.words("semaphore", ["sweep0", "3"]), log: sandbox.base + "/trace")
        _ = try traced.run()
        let calls = try traced.calls(from: "\".ipc\"").filter {
            ["semget", "semctl", "linkat", "renameat", "mkdirat", "fchmod", "write"].contains($0.name)
        }
        #expect(calls.contains { $0.name == "semctl" } && calls.contains { $0.name == "renameat" })
        for (number, call) in calls.enumerated() {
            let name = "sweep\(number + 1)"
            let killed = TracedProcess(sandbox.words("semaphore", [name, "3"]), log: sandbox.base + "/trace")
            _ = try killed.run(killedAt: call)
            #expect(try sandbox.semaphore(name, startingAt: 3).value == 3, "killed at \(call)")
        }
        let kept = try kernelSemaphores(of: (0...calls.count).map { "sweep\($0).sem" })
        #expect(kept == calls.count + 1)
        _ = try sandbox.container.removeKernelObjects()
    }

    /// Returns the number of semaphore sets whose keys these records hold.
    private func kernelSemaphores(of files: [String]) throws -> Int {
        let keys = Set(try files.map { Int32(bitPattern: try sandbox.record($0).key) })
        let lines = String(decoding: try SystemFile.read("/proc/sysvipc/sem"), as: UTF8.self).split(separator: "\n")
        return lines.filter { line in
            Int32(line.split(separator: " ").first ?? "").map(keys.contains) ?? false
        }.count
    }

    // MARK: Tasks

    @Test func aTaskWaitsWithoutHoldingUpOthers() async throws {
        let semaphore = try sandbox.semaphore(startingAt: 0)
        try await withThrowingTaskGroup(of: Void.self) { tasks in
            for _ in 0..<8 { tasks.addTask { try await semaphore.wait(timeout: .seconds(300)) } }
            tasks.addTask { for _ in 0..<8 { try semaphore.post() } }
            try await tasks.waitForAll()
        }
        #expect(try semaphore.value == 0)
    }

    @Test func cancellingTheTaskEndsTheWaiting() async throws {
        let semaphore = try sandbox.semaphore(startingAt: 0)
        let task = Task { try await semaphore.permit(timeout: .seconds(600)).end() }
        task.cancel()
        let error = await #expect(throws: AppGroupError.self) { try await task.value }
        #expect(error?.code == .cancelled)
        #expect(try semaphore.value == 0)
    }
}
