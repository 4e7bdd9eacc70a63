import Glibc
import KeyVault
import Sealing
import Synchronization
import TestSupport
import Testing

@testable import SealedState

/// Tests of slowing down, observing, stopping and resuming a rotation.
struct RotationPaceTests {
    let sandbox: RotationSandbox

    init() throws { sandbox = try RotationSandbox() }

    /// A clock that only waiting advances.
    private final class Waiting: Sendable {
        private let time = Mutex(Duration.zero)
        var total: Duration { time.withLock { $0 } }
        var clock: ThrottleClock {
            ThrottleClock(now: { [self] in total }, sleep: { [self] span in time.withLock { $0 += span } })
        }
    }

    @Test func blobsAreSpreadOverTime() throws {
        try sandbox.write(11)
        let waiting = Waiting()
        try sandbox.rotate {
            $0.blobsPerSecond = 10
            $0.clock = waiting.clock
        }
        // The first proceeds at once; each of the others waits for the share of the one before it.
        #expect(waiting.total == .seconds(1))
    }

    @Test func bytesAreSpreadOverTimeWithinABlobToo() throws {
        try sandbox.plantStream("large", RotationSandbox.contents(4_000_000))
        try sandbox.plantStream("small", [1])
        let waiting = Waiting()
        try sandbox.rotate {
            $0.bytesPerSecond = 1_000_000
            $0.clock = waiting.clock
        }
        #expect(waiting.total >= .seconds(4) && waiting.total < .seconds(5))
        #expect(try sandbox.openStream("large") == RotationSandbox.contents(4_000_000))
    }

    @Test func theThrottleIsNotAwaitedUnderALock() throws {
        try sandbox.write(3)
        let locks = try (0..<3).map { try sandbox.store.places.place("r\($0)").lock }
        let refused = Mutex(0)
        let waiting = Waiting()
        var clock = waiting.clock
        let (store, sleep) = (sandbox.store, clock.sleep)
        clock.sleep = { span in
            for lock in locks {
                let isFree = (try? store.reader.locks.lock(lock, timeout: .zero))?.unlock() != nil
                if !isFree { refused.withLock { $0 += 1 } }
            }
            sleep(span)
        }
        try sandbox.rotate {
            $0.bytesPerSecond = 1000
            $0.clock = clock
        }
        #expect(refused.withLock { $0 } == 0)
        #expect(waiting.total > .zero)
    }

    @Test func withoutALimitNothingIsWaitedFor() throws {
        try sandbox.write(5)
        let waiting = Waiting()
        try sandbox.rotate { $0.clock = waiting.clock }
        #expect(waiting.total == .zero)
    }

    @Test func progressCountsUpToTheEnd() throws {
        try sandbox.write(4)
        var seen: [RotationProgress] = []
        let report = try sandbox.store.rotate(sandbox.options()) { seen.append($0) }
        #expect(seen.map(\.done) == [0, 1, 2, 3, 4, 0, 0])
        #expect(seen.map(\.total) == [4, 4, 4, 4, 4, 0, 0])
        #expect(seen.map(\.pass) == [1, 1, 1, 1, 1, 2, 3])
        #expect(seen.map(\.found).allSatisfy { $0 == 4 })
        #expect(seen.last?.resealed == 4)
        #expect(seen.last?.bytes == report.bytes)
        #expect(report.passes == 3)
    }

    @Test func aRotationThatWasStoppedIsContinued() throws {
        try sandbox.write(10)
        let isStopped = Mutex(false)
        let refused = refusal {
            try sandbox.store.rotate(sandbox.options { $0.isCancelled = { isStopped.withLock { $0 } } }) { progress in
                if progress.resealed == 3 { isStopped.withLock { $0 = true } }
            }
        }
        #expect(refused?.code == .cancelled)
        #expect(try sandbox.epochs(10).count { $0 == 2 } == 3)
        for number in 0..<10 { #expect(try sandbox.store.read(ProbeRecord.self, named: "r\(number)").number == number) }
        let report = try sandbox.rotate()
        #expect((report.isCompleted, report.epoch, report.resealed) == (true, 2, 7))
        #expect(try sandbox.epochs(10).allSatisfy { $0 == 2 })
    }

    @Test func aStreamThatIsStoppedHalfwayStaysWhole() throws {
        let contents = RotationSandbox.contents(8_000_000)
        try sandbox.plantStream("large", contents)
        let asked = Mutex(0)
        let refused = refusal {
            try sandbox.rotate {
                $0.isCancelled = {
                    asked.withLock { asked in
                        asked += 1
                        return asked > 8
                    }
                }
            }
        }
        #expect(refused?.code == .cancelled)
        #expect(try sandbox.header("large").epoch == 1)
        #expect(try sandbox.openStream("large") == contents)
        #expect(try SystemFile.names(sandbox.fixture.container).contains { $0.hasSuffix(".new") } == false)
        #expect(try sandbox.rotate().resealed == 1)
    }

    @Test func aCancelledTaskEndsTheRotation() async throws {
        try sandbox.write(3)
        let sandbox = sandbox
        let task = Task { () -> StoreError.Code? in
            withUnsafeCurrentTask { $0?.cancel() }
            return code { try sandbox.rotate() }
        }
        #expect(await task.value == .cancelled)
    }

    @Test func aBlobWhoseLockIsHeldHoldsTheRotationUpAndIsNamed() throws {
        try sandbox.write(2)
        let place = try sandbox.store.places.place("r1")
        let lock = try sandbox.store.reader.locks.lock(place.lock, timeout: .zero)
        let report = try sandbox.rotate {
            $0.lockTimeout = .milliseconds(20)
            $0.maximumPasses = 2
        }
        #expect(!report.isCompleted)
        #expect(report.left.map(\.code) == [.lockTimeout])
        #expect(try sandbox.epochs(2) == [2, 1])
        lock.unlock()
        #expect(try sandbox.rotate().isCompleted)
    }
}
