import Glibc
import SealedState
import TestSupport
import Testing

/// Tests of a record's lock when other openings of its file exist and the lock holder has children.
@Suite(.timeLimit(.minutes(10))) struct LockInheritanceFaultTests {
    let fixture: StoreFixture
    let store: SealedStore

    init() throws {
        fixture = try StoreFixture()
        store = try fixture.open()
        try store.write(Note(text: "x"))
    }

    private var lockFile: String { fixture.container + "/.sealedstate.lock" }

    /// Returns the result of another process that tries all the container's locks once: `held`, or the error's code.
    private func attempt() throws -> String {
        let words = ["lock", fixture.container, ".sealedstate.lock", "whole", "exclusive", "0"]
        return try ChildProcess.run("sealed-probe", words).outputText.trimmingNewlines
    }

    // The close would release POSIX record locks.
    @Test func anUnrelatedOpenAndCloseKeepsTheLock() throws {
        try store.update(Note.self) { note throws in
            for flags in [O_RDONLY, O_RDWR] { close(open(lockFile, flags | O_CLOEXEC)) }
            #expect(try attempt() == "lockTimeout")
            note.text = "y"
        }
        #expect(try attempt() == "held")
    }

    // this process: lock … start a child … unlock
    // child:                    runs on ……………………… runs on
    // another one:                                take
    @Test func aSpawnedChildHasNoPartInTheLock() throws {
        var child: ChildProcess?
        try store.update(Note.self) { note in
            let started = try ChildProcess("/bin/cat")
            try started.write("x\n")
            #expect(try started.readLine() == "x")
            let files = try SystemFile.names("/proc/\(started.pid)/fd").map {
                try SystemFile.linkTarget("/proc/\(started.pid)/fd/\($0)")
            }
            #expect(!files.contains { $0.contains(".sealedstate.lock") }, "\(files)")
            child = started
            note.text = "y"
        }
        #expect(try attempt() == "held")
        #expect(try child?.finish().exitCode == 0)
    }

    private func forkingHolder() throws -> (holder: ChildProcess, child: Int32) {
        let holder = try ChildProcess("sealed-probe", ["lock-fork", fixture.container, ".sealedstate.lock"])
        let line = try #require(try holder.readLine())
        return (holder, try #require(Int32(line.split(separator: " ").last ?? "")))
    }

    // A child that was forked without exec shares the holder's open file.
    //
    // holder:      lock, fork … unlock
    // its child:                ……………………… lives
    // another one: no                      take
    @Test func aForkedChildDoesNotKeepALockThatWasGivenBack() throws {
        let (holder, child) = try forkingHolder()
        defer { kill(child, SIGKILL) }
        #expect(try attempt() == "lockTimeout")
        try holder.write("\n")
        #expect(try holder.readLine() == "free")
        #expect(kill(child, 0) == 0)
        #expect(try attempt() == "held")
        #expect(try store.write(Note(text: "y")) == 2)
    }

    // holder:      lock, fork … dies
    // its child:                … keeps it for as long as it lives … dies
    // another one:              time-out, no hang; reads               take
    @Test func aForkedChildOfADeadHolderCostsTheTimeLimitUntilItDies() throws {
        let (holder, child) = try forkingHolder()
        holder.kill(SIGKILL)
        #expect(code { try store.write(Note(text: "y"), timeout: .milliseconds(50)) } == .lockTimeout)
        #expect(try store.read(Note.self).text == "x")
        kill(child, SIGKILL)
        #expect(try holder.finish().status == .signalled(SIGKILL))
        #expect(try store.write(Note(text: "y"), timeout: .seconds(60)) == 2)
    }
}
