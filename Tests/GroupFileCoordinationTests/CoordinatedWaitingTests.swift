import Glibc
import GroupFileCoordination
import SharedFiles
import Synchronization
import TestSupport
import Testing

/// Tests of tasks that wait for access, with more tasks than processors or waiting threads.
@Suite(.timeLimit(.minutes(10))) struct CoordinatedWaitingTests {
    private let sandbox: CoordinationSandbox
    private static let crowd = 100

    init() throws {
        sandbox = try CoordinationSandbox()
        try sandbox.write("file", "0")
    }

    private func write(
        _ coordinator: FileCoordinator, timeout: Duration = .seconds(600)
    ) async -> FileError.Code? {
        do throws(FileError) {
            try await coordinator.coordinate(writingItemAt: sandbox.path("file"), timeout: timeout) { _ async in }
            return nil
        } catch {
            return error.code
        }
    }

    /// Starts tasks that wait, each with a coordinator of its own if none is given.
    private func waiters(_ coordinator: FileCoordinator? = nil) async throws -> [Task<FileError.Code?, Never>] {
        let begun = Counter()
        let tasks = (0..<Self.crowd).map { _ in
            Task {
                begun.add()
                return await write(coordinator ?? sandbox.coordinator())
            }
        }
        while begun.count < Self.crowd { try await Task.sleep(for: .milliseconds(1)) }
        try await Task.sleep(for: .milliseconds(50))
        return tasks
    }

    private func outcomes(_ tasks: [Task<FileError.Code?, Never>]) async -> [FileError.Code?] {
        var outcomes: [FileError.Code?] = []
        for task in tasks { outcomes.append(await task.value) }
        return outcomes
    }

    //  other process           this process
    //  write
    //                          100 tasks wait
    //                          this test goes on; a short limit ends in time
    //  done
    //                          100 tasks write, one after another
    @Test func moreWaitersThanThreadsStopNoTask() async throws {
        let holder = try sandbox.holding("updating", "file")
        let tasks = try await waiters()
        #expect(await write(sandbox.coordinator(), timeout: .milliseconds(20)) == .lockTimeout)
        try holder.write("\n")
        #expect(await outcomes(tasks).allSatisfy { $0 == nil })
    }

    @Test func cancellingACoordinatorEndsTheWaitingOfItsTasks() async throws {
        let holder = try sandbox.holding("updating", "file")
        let coordinator = sandbox.coordinator()
        let tasks = try await waiters(coordinator)
        coordinator.cancel()
        #expect(await outcomes(tasks).allSatisfy { $0 == .cancelled })
        #expect(await write(coordinator) == .cancelled)
        #expect(sandbox.code(.reading(sandbox.path("file"))) == .lockTimeout)
        try holder.write("\n")
        #expect(try holder.readLine() == "free")
    }

    //  task                    100 tasks
    //  write
    //                          wait
    //  read, nested
    //  done
    //                          write
    @Test func aNestedAccessDoesNotQueueBehindWaitersOfTheOuterOne() async throws {
        let coordinator = sandbox.coordinator()
        let path = sandbox.path("file")
        let tasks = try await coordinator.coordinate(writingItemAt: path) { path async in
            let tasks = try? await waiters()
            let code: FileError.Code?
            do throws(FileError) {
                try await coordinator.coordinate(readingItemAt: path, timeout: .seconds(600)) { _ async in }
                code = nil
            } catch {
                code = error.code
            }
            #expect(code == nil)
            return tasks
        }
        #expect(await outcomes(try #require(tasks)).allSatisfy { $0 == nil })
    }

    @Test func aZeroLimitIsEnoughWhereAPresenterAnswersAtOnce() throws {
        let presenter = NotingPresenter(sandbox.path("file"))
        try FileCoordinator.addFilePresenter(presenter, domain: sandbox.domain)
        defer { FileCoordinator.removeFilePresenter(presenter, domain: sandbox.domain) }
        // A busy machine may need longer than presenters get, but not every time.
        #expect((0..<50).contains { _ in sandbox.code(.writing(sandbox.path("file"))) == nil })
    }
}

private final class Counter: Sendable {
    private let value = Atomic(0)
    var count: Int { value.load(ordering: .acquiring) }
    func add() { value.add(1, ordering: .acquiringAndReleasing) }
}
