import Glibc
import SharedFiles
import TestSupport
import Testing

/// Tests of locks between real processes. The columns of each comment are the processes, time runs down.
@Suite(.timeLimit(.minutes(10))) struct LockProcessTests {
    private let sandbox: Sandbox
    private let file: LockFile

    init() throws {
        sandbox = try Sandbox()
        file = LockFile(directory: sandbox.inside, name: "lock")
    }

    private func holder(_ slot: String = "3", milliseconds: Int = 0) throws -> ChildProcess {
        try ChildProcess("sealed-probe", ["lock", sandbox.path(""), "lock", slot, "exclusive", "\(milliseconds)"])
    }

    private func codeOfAttempt(_ range: LockRange = LockRange(slot: 3), timeout: Duration = .zero) -> FileError.Code? {
        do throws(FileError) {
            _ = try file.acquire(range, .exclusive, timeout: timeout)
            return nil
        } catch {
            return error.code
        }
    }

    //  test                    holder
    //                          take slot 3
    //  try 3: no; 4: yes
    //                          unlock
    //  take slot 3
    @Test func processesExcludeEachOtherBySlot() throws {
        let holder = try holder()
        #expect(try holder.readLine() == "held")
        #expect(codeOfAttempt() == .lockTimeout)
        #expect(codeOfAttempt(LockRange(slot: 4)) == nil)
        #expect(codeOfAttempt(.whole) == .lockTimeout)
        try holder.write("unlock\n")
        #expect(try holder.readLine() == "free")
        #expect(codeOfAttempt() == nil)
        #expect(try holder.finish().exitCode == 0)
    }

    //  test                    holder
    //  look: free
    //                          take slot 3
    //  look: 3 and whole held, 4 free
    //                          unlock
    //  look: free
    @Test func aLookShowsWhatAnotherProcessHolds() throws {
        #expect(!file.mayBeHeld(.whole))
        let holder = try holder()
        #expect(try holder.readLine() == "held")
        #expect(file.mayBeHeld(LockRange(slot: 3)) && file.mayBeHeld(.whole))
        #expect(!file.mayBeHeld(LockRange(slot: 4)))
        try holder.write("unlock\n")
        #expect(try holder.readLine() == "free")
        #expect(!file.mayBeHeld(.whole))
        #expect(try holder.finish().exitCode == 0)
    }

    //  test                    holder
    //                          take
    //  SIGKILL
    //  take
    @Test func aHolderThatDiesFreesItsLock() throws {
        let holder = try holder()
        #expect(try holder.readLine() == "held")
        #expect(codeOfAttempt() == .lockTimeout)
        holder.kill(SIGKILL)
        #expect(codeOfAttempt(timeout: .seconds(50)) == nil)
        #expect(try holder.finish().status == .signalled(SIGKILL))
    }

    //  test                    holder
    //                          take
    //  SIGSTOP
    //  try: time-out
    //  SIGCONT                 unlock
    //  take
    @Test func aStoppedHolderCostsATimeOutAndNoHang() throws {
        let holder = try holder()
        #expect(try holder.readLine() == "held")
        holder.kill(SIGSTOP)
        try holder.waitUntilStopped()
        try holder.write("unlock\n")
        #expect(codeOfAttempt(timeout: .milliseconds(50)) == .lockTimeout)
        holder.kill(SIGCONT)
        #expect(try holder.readLine() == "free")
        #expect(codeOfAttempt() == nil)
    }

    //  holder                  test                    waiter
    //  take on the old file
    //                                                  wait on the old file
    //                          replace the lock file
    //  still named? false                              take on the new file
    @Test func aLockIsNeverHeldOnADeadFile() throws {
        let holder = try holder()
        #expect(try holder.readLine() == "held")
        let waiter = try self.holder(milliseconds: 50_000)
        // The waiter is on the old file once it has opened it.
        while !isOpen(sandbox.path("lock"), by: waiter.pid) { usleep(1000) }
        try holder.write("named\n")
        #expect(try holder.readLine() == "true")

        try sandbox.file("other", "")
        try #require(rename(sandbox.path("other"), sandbox.path("lock")) == 0)
        #expect(try waiter.readLine() == "held")
        try waiter.write("named\n")
        #expect(try waiter.readLine() == "true")
        try holder.write("named\n")
        #expect(try holder.readLine() == "false")
        #expect(codeOfAttempt() == .lockTimeout)
    }

    @Test func aRemovedLockFileIsMadeAgain() throws {
        let held = try file.acquire(.whole, .exclusive, timeout: .zero)
        try #require(unlink(sandbox.path("lock")) == 0)
        let heldIsNamed = held.isStillNamed()
        #expect(!heldIsNamed)
        let second = try file.acquire(.whole, .exclusive, timeout: .seconds(50))
        let secondIsNamed = second.isStillNamed()
        #expect(secondIsNamed)
        held.unlock()
        #expect(codeOfAttempt(.whole) == .lockTimeout)
        second.unlock()
    }

    private func isOpen(_ path: String, by pid: Int32) -> Bool {
        let names = (try? SystemFile.names("/proc/\(pid)/fd")) ?? []
        return names.contains { (try? SystemFile.linkTarget("/proc/\(pid)/fd/\($0)")) == path }
    }
}
