import AppGroups
import SharedFiles
import Synchronization
import TestSupport
import Testing

@testable import SealedState

/// Tests of the locks that a rotation waits for before its last walk.
struct WriterBarrierTests {
    let sandbox: RotationSandbox

    init() throws { sandbox = try RotationSandbox() }

    private var locks: LockFile {
        LockFile(directory: sandbox.store.container.root, name: ContainerLayout.lockFile)
    }

    @Test func heldSlotsAreSeen() throws {
        let slot: UInt64 = 0x1234_5678_9ABC
        let held = try locks.acquire(LockRange(slot: slot), .exclusive, timeout: .zero)
        #expect(try #require(try HeldSlots.now(of: locks)).contains(slot))
        held.unlock()
        #expect(try #require(try HeldSlots.now(of: locks)).contains(slot) == false)
    }

    @Test func thereIsNoWaitWithoutWriters() throws {
        try WriterBarrier(container: sandbox.store.container, options: sandbox.options()).wait()
    }

    // writer 1:  lock ....................... unlock
    // writer 2:  ................ lock ......................... (for as long as it likes)
    // barrier:   ...... waits for 1 ................. done
    @Test func aWriterThatCameLaterIsNotWaitedFor() throws {
        let locks = locks
        let first = Holder(try locks.acquire(LockRange(slot: 0xA1_0000_0001), .exclusive, timeout: .zero))
        let second = Holder(nil)
        let asked = Mutex(0)
        let options = sandbox.options { options in
            options.lockTimeout = .seconds(60)
            options.isCancelled = {
                let count = asked.withLock { asked in
                    asked += 1
                    return asked
                }
                // All locks at once are tried less than 120 times; after that, the barrier waits for the first writer.
                guard count == 200 else { return false }
                second.take(try? locks.acquire(LockRange(slot: 0xA1_0000_0002), .exclusive, timeout: .zero))
                first.take(nil)
                return false
            }
        }
        try WriterBarrier(container: sandbox.store.container, options: options).wait()
        #expect(asked.withLock { $0 } >= 200)
        #expect(code { try onLock(locks, 0xA1_0000_0002) } == .lockTimeout)
    }

    private func onLock(_ locks: LockFile, _ slot: UInt64) throws(StoreError) {
        try StoreError.onFiles("lock", "slot") { () throws(FileError) in
            try locks.acquire(LockRange(slot: slot), .exclusive, timeout: .zero).unlock()
        }
    }

    /// A lock that another closure releases.
    private final class Holder: Sendable {
        private let lock: Mutex<HeldLock?>
        init(_ lock: consuming HeldLock?) { self.lock = Mutex(lock) }
        func take(_ new: consuming sending HeldLock?) {
            var new = new
            lock.withLock { held in swap(&held, &new) }
        }
    }

    @Test func aWriterThatStaysIsATimeout() throws {
        let held = try locks.acquire(LockRange(slot: 0xA1_0000_0001), .exclusive, timeout: .zero)
        let options = sandbox.options { $0.lockTimeout = .milliseconds(20) }
        #expect(
            code { try WriterBarrier(container: sandbox.store.container, options: options).wait() } == .lockTimeout)
        held.unlock()
    }
}
