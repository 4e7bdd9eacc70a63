import AppGroups
import Glibc
import GroupIPC
import TestSupport
import Testing

/// Tests of shared memory: whole values, between processes that are killed while they write.
@Suite(.timeLimit(.minutes(10))) struct GroupSharedMemoryTests {
    private let sandbox: IPCSandbox

    init() throws { sandbox = try IPCSandbox() }

    // MARK: Values

    @Test func aValueIsReadAsItWasWritten() throws {
        let memory = try sandbox.memory()
        #expect(try memory.read() == nil)
        for count in [0, 1, 63, 64, 65, 999, 1000] {
            let value = (0..<count).map { UInt8(truncatingIfNeeded: $0) }
            try memory.write(value)
            #expect(try memory.read() == value)
            #expect(try sandbox.memory(capacity: nil).read() == value)
        }
    }

    @Test func aValueThatDoesNotFitIsRefusedAndTheOldOneRemains() throws {
        let memory = try sandbox.memory()
        try memory.write([1])
        #expect(groupError { try memory.write([UInt8](repeating: 0, count: 1001)) }?.code == .messageTooLarge)
        #expect(try memory.read() == [1])
    }

    @Test(arguments: [0, -1, (1 << 30) + 1, Int.max]) func aCapacityOutOfRangeIsRefused(capacity: Int) throws {
        #expect(groupError { _ = try sandbox.memory(capacity: capacity) }?.code == .messageTooLarge)
    }

    @Test func anotherCapacityOrLayoutIsRefused() throws {
        let memory = try sandbox.memory(capacity: 1000)
        #expect(groupError { _ = try sandbox.memory(capacity: 1001) }?.code == .ipcMismatch)
        #expect(groupError { _ = try sandbox.memory(capacity: 1000, .bytes) }?.code == .ipcMismatch)
        #expect(groupError { _ = try memory.withUnsafeMutableBytes { $0.count } }?.code == .ipcMismatch)
        #expect(try sandbox.memory(capacity: nil).capacity == 1000)
    }

    @Test func withoutACapacityNothingIsMade() throws {
        #expect(groupError { _ = try sandbox.memory(capacity: nil) }?.code == .ipcMissing)
        #expect(groupError { _ = try sandbox.memory(creating: false) }?.code == .ipcMissing)
        #expect(!SystemFile.exists(sandbox.path(".ipc")))
    }

    @Test func bytesAreSharedAsTheyAre() throws {
        let one = try sandbox.memory("raw", capacity: 100, .bytes)
        let other = try sandbox.memory("raw", capacity: 100, .bytes)
        #expect(try one.withUnsafeMutableBytes { $0.count } == 100)
        #expect(try other.withUnsafeMutableBytes { $0.allSatisfy { $0 == 0 } })
        try one.withUnsafeMutableBytes { $0[99] = 7 }
        #expect(try other.withUnsafeMutableBytes { $0[99] } == 7)
        #expect(groupError { try one.write([1]) }?.code == .ipcMismatch)
        #expect(groupError { _ = try one.read() }?.code == .ipcMismatch)
    }

    @Test func unlinkingShowsWhoHasItOpen() throws {
        let memory = try sandbox.memory()
        try memory.write([1])
        try GroupSharedMemory.unlink("m", in: sandbox.container)
        #expect(groupError { _ = try memory.read() }?.code == .ipcRemoved)
        #expect(groupError { try memory.write([2]) }?.code == .ipcRemoved)
        #expect(try sandbox.memory(capacity: 5).read() == nil)
        try GroupSharedMemory.unlink("m", in: sandbox.container)
        try GroupSharedMemory.unlink("m", in: sandbox.container)
    }

    // MARK: Other processes

    @Test func anotherProcessReadsWhatWasWrittenAndTheOtherWayRound() throws {
        let memory = try sandbox.memory()
        let child = try sandbox.child("memory", "m", "1000")
        #expect(try child.readLine() == "open")
        #expect(try child.ask("read") == "nothing")
        try memory.write([9, 9, 9])
        #expect(try child.ask("read") == "3 9")
        #expect(try child.ask("write 4 1000") == "done")
        #expect(try memory.read() == [UInt8](repeating: 4, count: 1000))
        #expect(try child.ask("write 4 1001") == "messageTooLarge")
    }

    @Test func aReaderNeverSeesATornValue() throws {
        let size = 50_000
        let memory = try sandbox.memory(capacity: size)
        let writers = try (0..<2).map { _ in try sandbox.child("memory-loop", "m", "\(size)") }
        for writer in writers { #expect(try writer.readLine(timeLimit: .seconds(300)) == "started") }
        var seen: Set<UInt8> = []
        var reads = 0
        // On a busy machine the writers may not have run by then.
        while reads < 3000 || seen.count < 2 {
            let value = try #require(try memory.read(timeout: .seconds(300)))
            #expect(value.allSatisfy { $0 == value[0] })
            seen.insert(value[0])
            reads += 1
        }
    }

    @Test func aWriterThatIsKilledLeavesAWholeValueAndNoLock() throws {
        let size = 200_000
        let memory = try sandbox.memory(capacity: size)
        for _ in 0..<10 {
            let writer = try sandbox.child("memory-loop", "m", "\(size)")
            #expect(try writer.readLine(timeLimit: .seconds(300)) == "started")
            writer.kill(SIGKILL)
            _ = try writer.finish()
            let value = try #require(try memory.read())
            #expect(value.allSatisfy { $0 == value[0] })
            try memory.write([5])
            #expect(try memory.read() == [5])
        }
    }

    @Test func aStoppedWriterHoldsUpWritersForTheirLimitAndReadersNotAtAll() throws {
        let memory = try sandbox.memory(capacity: 1_000_000)
        let writer = try sandbox.child("memory-loop", "m", "1000000")
        #expect(try writer.readLine(timeLimit: .seconds(300)) == "started")
        var isHeld = false
        // Stopped at random points: most of its time it holds the lock.
        for _ in 0..<100 where !isHeld {
            writer.kill(SIGSTOP)
            try writer.waitUntilStopped()
            #expect(try memory.read()?.isEmpty == false)
            do throws(AppGroupError) { try memory.write([1], timeout: .milliseconds(20)) } catch {
                isHeld = error.code == .timeout
            }
            writer.kill(SIGCONT)
            usleep(.random(in: 200...3000))
        }
        #expect(isHeld)
    }
}
