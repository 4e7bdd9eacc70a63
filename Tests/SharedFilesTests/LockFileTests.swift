import Glibc
import SharedFiles
import Synchronization
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(10))) struct LockFileTests {
    private let sandbox: Sandbox
    private let file: LockFile

    init() throws {
        sandbox = try Sandbox()
        file = LockFile(directory: sandbox.inside, name: "lock")
    }

    /// Returns whether a range can be taken now.
    private func isFree(_ range: LockRange, _ mode: LockMode = .exclusive) throws -> Bool {
        do throws(FileError) {
            _ = try file.acquire(range, mode, timeout: .zero)
            return true
        } catch {
            if error.code != .lockTimeout { throw error }
            return false
        }
    }

    @Test func slotsExcludeThemselvesAndTheWhole() throws {
        let held = try file.acquire(LockRange(slot: 5), .exclusive, timeout: .zero)
        let heldIsNamed = held.isStillNamed()
        #expect(heldIsNamed)
        #expect(try !isFree(LockRange(slot: 5)))
        #expect(try !isFree(LockRange(slot: 5), .shared))
        #expect(try !isFree(.whole))
        #expect(try isFree(LockRange(slot: 4)))
        #expect(try isFree(LockRange(slot: 6)))
        held.unlock()
        #expect(try isFree(LockRange(slot: 5)))
        let whole = try file.acquire(.whole, .exclusive, timeout: .zero)
        #expect(try !isFree(LockRange(slot: .max)))
        #expect(try !isFree(LockRange(slot: 0)))
        whole.unlock()
    }

    @Test func theUpperTwoBitsOfASlotDoNotCount() throws {
        #expect(LockRange(slot: 0xC000_0000_0000_0001) == LockRange(slot: 1))
        #expect(LockRange(slot: .max) != LockRange(slot: 1))
        #expect(try isFree(LockRange(slot: .max)))
    }

    @Test func sharedHoldersExcludeOnlyExclusiveOnes() throws {
        let first = try file.acquire(LockRange(slot: 1), .shared, timeout: .zero)
        let second = try file.acquire(LockRange(slot: 1), .shared, timeout: .zero)
        #expect(try !isFree(LockRange(slot: 1)))
        first.unlock()
        #expect(try !isFree(LockRange(slot: 1)))
        second.unlock()
        #expect(try isFree(LockRange(slot: 1)))
    }

    @Test func aDroppedLockIsFree() throws {
        do { _ = try file.acquire(.whole, .exclusive, timeout: .zero) }
        #expect(try isFree(.whole))
    }

    // A child that is forked while the lock is held shares its description, as this duplicate does.
    @Test func unlockingFreesItAlsoWhereADuplicateIsOpen() throws {
        let held = try file.acquire(.whole, .exclusive, timeout: .zero)
        let copies = try sandbox.openDescriptors("lock").map { dup($0) }
        #expect(copies.count == 1)
        held.unlock()
        #expect(try isFree(.whole))
        for copy in copies { close(copy) }
    }

    // The close would release a plain POSIX lock of this process.
    @Test func closingAnotherDescriptorOfTheFileDoesNotFreeIt() throws {
        let held = try file.acquire(.whole, .exclusive, timeout: .zero)
        close(open(sandbox.path("lock"), O_RDWR))
        #expect(try !isFree(.whole))
        held.unlock()
    }

    @Test func aLookShowsWhatThisProcessHolds() throws {
        // Without a file there is no lock, and a look makes none.
        #expect(!file.mayBeHeld(.whole))
        #expect(try sandbox.names().isEmpty)
        let held = try file.acquire(LockRange(slot: 5), .exclusive, timeout: .zero)
        #expect(file.mayBeHeld(.whole))
        #expect(file.mayBeHeld(LockRange(slot: 5)))
        #expect(!file.mayBeHeld(LockRange(slot: 6)))
        held.unlock()
        #expect(!file.mayBeHeld(.whole))
        let shared = try file.acquire(LockRange(slot: 5), .shared, timeout: .zero)
        #expect(file.mayBeHeld(.whole))
        shared.unlock()
        // A look takes nothing.
        #expect(!file.mayBeHeld(.whole))
        #expect(try isFree(.whole))
    }

    @Test(arguments: Planted.possible) func aLookAtWhatIsPlantedDoesNotTell(_ planted: Planted) throws {
        try planted.plant("lock", in: sandbox)
        #expect(file.mayBeHeld(.whole))
        try sandbox.expectOutsideUntouched()
    }

    @Test func threadsExcludeEachOther() throws {
        let inside = Atomic(0)
        let file = file
        let results = try concurrently(6) { _ in
            for _ in 0..<50 {
                let held = try file.acquire(LockRange(slot: 9), .exclusive, timeout: .seconds(50))
                let others = inside.add(1, ordering: .sequentiallyConsistent).oldValue
                sched_yield()
                inside.subtract(1, ordering: .sequentiallyConsistent)
                held.unlock()
                if others != 0 { throw FileError(.io, operation: "exclude", path: "lock") }
            }
        }
        for result in results { try result.get() }
    }

    @Test func aWaiterCanGiveUp() throws {
        let held = try file.acquire(.whole, .exclusive, timeout: .zero)
        var asked = 0
        let error = fileError {
            let held = try file.acquire(.whole, .exclusive, timeout: .seconds(50)) {
                asked += 1
                return asked == 3
            }
            held.unlock()
        }
        #expect(error?.code == .cancelled)
        held.unlock()
    }

    //  waiter                              holder
    //                                      hold the old file
    //  try: taken
    //                                      replace the lock file, then unlock
    //  try: the old file's lock is free, but dead
    //  take on the new file
    @Test func aLockThatComesFreeOnADeadFileIsNotTaken() throws {
        final class Holder {
            var lock: HeldLock?
            init(_ lock: consuming HeldLock) { self.lock = consume lock }
        }
        let held = try file.acquire(.whole, .exclusive, timeout: .zero)
        let holder = Holder(consume held)
        try sandbox.file("other", "")
        let taken = try file.acquire(.whole, .exclusive, timeout: .seconds(50)) {
            // Succeeds the first time only: there is one other file.
            rename(sandbox.path("other"), sandbox.path("lock"))
            holder.lock = nil
            return false
        }
        let isNamed = taken.isStillNamed()
        #expect(isNamed)
        taken.unlock()
    }

    @Test(arguments: ["0000", "0777"]) func theUmaskDoesNotMatter(_ umask: String) throws {
        let result = try ChildProcess.run(
            "/bin/sh",
            [
                "-c", #"umask "$0"; exec "$@""#, umask, builtProduct("sealed-probe"), "lock", sandbox.path(""), "lock",
                "whole", "exclusive", "0",
            ])
        #expect(result.outputText == "held\n")
        #expect(try SystemFile.mode(sandbox.path("lock")) == 0o600)
    }

    @Test(
        arguments: [
            (Planted.fifo, FileError.Code.notRegularFile), (.directory, .notRegularFile), (.linkToFile, .unsafePath),
            (.linkToDirectory, .unsafePath), (.danglingLink, .unsafePath), (.device, .notRegularFile),
        ].filter { Planted.possible.contains($0.0) })
    func whatIsPlantedUnderItsNameIsRefused(_ planted: Planted, _ code: FileError.Code) throws {
        try planted.plant("lock", in: sandbox)
        #expect(fileError { _ = try isFree(.whole) }?.code == code)
        try sandbox.expectOutsideUntouched()
    }

    @Test func aSecondNameOfAnotherFileIsRefused() throws {
        #expect(link(sandbox.place.path("outside/precious"), sandbox.path("lock")) == 0)
        let error = fileError { _ = try isFree(.whole) }
        #expect(error?.code == .secondName)
        #expect(error?.path == sandbox.path("lock"))
        #expect(error?.advice.contains("rm \(sandbox.path("lock"))") == true)
        #expect(try SystemFile.mode(sandbox.place.path("outside/precious")) == 0o600)
    }

    @Test(.enabled(if: geteuid() == 0, "only root can give files away"))
    func aStrangersLockFileIsRefused() throws {
        try sandbox.file("lock", "")
        try #require(chown(sandbox.path("lock"), 4321, 4321) == 0)
        #expect(fileError { _ = try isFree(.whole) }?.code == .wrongOwner)
        // In a directory that a group shares, files of its members are accepted as well.
        try #require(chown(sandbox.path(""), 0, 4321) == 0)
        try #require(chmod(sandbox.path(""), 0o2770) == 0)
        #expect(try isFree(.whole))
    }

    @Test(arguments: ["", "..", "a/b"]) func aLockFileNeedsAPlainName(_ name: String) {
        let file = LockFile(directory: sandbox.inside, name: name)
        let error = fileError {
            let held = try file.acquire(.whole, .exclusive, timeout: .zero)
            held.unlock()
        }
        #expect(error?.code == .invalidName)
    }
}
