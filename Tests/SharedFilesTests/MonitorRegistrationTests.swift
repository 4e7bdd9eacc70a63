import FileMonitoring
import Glibc
import SharedFiles
import Synchronization
import TestSupport
import Testing

/// Tests of many registrations, their ends, and the one instance that they share.
@Suite(.timeLimit(.minutes(10))) struct MonitorRegistrationTests {
    private let sandbox: Sandbox
    private let monitor = FileMonitor()

    init() throws { sandbox = try Sandbox() }

    /// In a process of its own, since other tests have monitors of their own.
    @Test func aThousandRegistrationsShareOneInstanceAndOneWatchOfEachDirectory() async throws {
        let sandbox = sandbox
        await #expect(processExitsWith: .success) { [root = sandbox.path("") as String] in
            let calls = MonitorCalls()
            let before = try instances()
            let registrations = try (0..<1000).map { try FileMonitor.shared.watch(root + "f\($0)", calls) }
            #expect(try instances() - before == 1)
            // One for each component of the path, including the root.
            #expect(try watches() == root.split(separator: "/").count + 1)
            for number in 0..<1000 { try SystemFile.write(root + "f\(number)", []) }
            #expect(eventually { calls.count >= 1000 })
            registrations.forEach { $0.cancel() }
            #expect(try watches() == 0)
        }
        withExtendedLifetime(sandbox) {}
    }

    @Test func aRegistrationThatIsLetGoEnds() throws {
        let dropped = MonitorCalls()
        let calls = MonitorCalls()
        do { _ = try monitor.watch(sandbox.path("file"), dropped) }
        let registration = try monitor.watch(sandbox.path("file"), calls)
        try sandbox.file("file", "")
        #expect(calls.wait())
        #expect(dropped.count == 0)
        registration.cancel()
    }

    @Test func aHandlerMayEndItsOwnRegistration() throws {
        let calls = MonitorCalls()
        let own = OwnRegistration()
        let first = try monitor.watch(sandbox.path("file")) { _ in own.called() }
        own.end.withLock { $0 = first }
        let registration = try monitor.watch(sandbox.path("file"), calls)
        for _ in 0..<10 { try sandbox.file("file", "") }
        #expect(calls.wait())
        calls.reset()
        try sandbox.file("file", "")
        #expect(calls.wait())
        #expect(own.count.load(ordering: .relaxed) == 1)
        registration.cancel()
    }

    private final class OwnRegistration: Sendable {
        let end = Mutex<MonitorRegistration?>(nil)
        let count = Atomic(0)

        func called() {
            count.add(1, ordering: .relaxed)
            end.withLock { $0.take() }?.cancel()
        }
    }

    /// The handler releases the last reference to another registration when it is released itself: `cancel` within
    /// `cancel`.
    @Test func aHandlerThatHoldsARegistrationMayBeLetGo() throws {
        let inner = try monitor.watch(sandbox.path("inner")) { _ in }
        var outer: MonitorRegistration? = try monitor.watch(sandbox.path("outer")) { _ in withExtendedLifetime(inner) {}
        }
        outer?.cancel()
        outer = nil
        let calls = MonitorCalls()
        let registration = try monitor.watch(sandbox.path("file"), calls)
        try sandbox.file("file", "")
        #expect(calls.wait())
        registration.cancel()
    }

    @Test func aHandlerMayWatch() throws {
        let calls = MonitorCalls()
        let list = List()
        let (monitor, path) = (monitor, sandbox.path("second"))
        let registration = try monitor.watch(sandbox.path("first")) { _ in
            if let new = try? monitor.watch(path, calls) { list.registrations.withLock { $0.append(new) } }
        }
        try sandbox.file("first", "")
        #expect(eventually { list.registrations.withLock { !$0.isEmpty } })
        try sandbox.file("second", "")
        #expect(calls.wait())
        registration.cancel()
        list.registrations.withLock { $0 = [] }
    }

    private final class List: Sendable {
        let registrations = Mutex<[MonitorRegistration]>([])
    }

    //  4 threads                        monitor's thread          1 thread
    //  watch                                                      replace file
    //  until a call came                call handlers             replace file
    //  cancel; note: over                                         ...
    //                                   call? only one that had begun
    @Test func noCallBeginsAfterACancel() throws {
        let (monitor, path, inside) = (monitor, sandbox.path("file"), sandbox.inside)
        let state = Race()
        let results = try concurrently(5) { index in
            if index == 0 {
                while state.finished.load(ordering: .relaxed) < 4 { try inside.replace("file", with: "x") }
                return
            }
            defer { state.finished.add(1, ordering: .relaxed) }
            for round in 0..<1500 {
                let calls = Cancelling()
                let registration = try monitor.watch(path) { _ in calls.begin() }
                if round % 3 == 0 { #expect(eventually { calls.count.load(ordering: .relaxed) > 0 }) }
                registration.cancel()
                calls.isOver.store(true, ordering: .sequentiallyConsistent)
                state.all.withLock { $0.append(calls) }
            }
        }
        for result in results { try result.get() }
        // A call that had begun before its registration ended may be seen late, at most one in each thread.
        let late = state.all.withLock { $0.map { $0.late.load(ordering: .relaxed) } }
        #expect(late.allSatisfy { $0 <= 1 })
        #expect(state.all.withLock { $0.count } == 6000)
        try expectAlive()
    }

    private func expectAlive() throws {
        let calls = MonitorCalls()
        let registration = try monitor.watch(sandbox.path("alive"), calls)
        try sandbox.file("alive", "")
        #expect(calls.wait())
        registration.cancel()
    }

    private final class Race: Sendable {
        let finished = Atomic(0)
        let all = Mutex<[Cancelling]>([])
    }

    private final class Cancelling: Sendable {
        let isOver = Atomic(false)
        let count = Atomic(0)
        let late = Atomic(0)

        func begin() {
            if isOver.load(ordering: .sequentiallyConsistent) { late.add(1, ordering: .relaxed) }
            count.add(1, ordering: .relaxed)
        }
    }

    @Test func aMonitorThatEndsTakesItsThreadAndItsInstanceWithIt() async throws {
        let sandbox = sandbox
        await #expect(processExitsWith: .success) { [root = sandbox.path("") as String] in
            for _ in 0..<50 {
                let calls = MonitorCalls()
                let registration = try FileMonitor().watch(root + "file", calls)
                try SystemFile.write(root + "file", [])
                #expect(calls.wait())
                registration.cancel()
            }
            #expect(eventually { (try? instances()) == 0 })
            #expect(eventually { monitorThreads().isEmpty })
        }
        withExtendedLifetime(sandbox) {}
    }

    @Test func theMonitorsThreadTakesNoSignal() async throws {
        let sandbox = sandbox
        await #expect(processExitsWith: .success) { [root = sandbox.path("") as String] in
            let registration = try FileMonitor.shared.watch(root + "file") { _ in }
            // All but SIGKILL and SIGSTOP, and the two signals that the C library reserves. A thread takes its name
            // when it runs.
            let all = [["SigBlk:\tfffffffe3ffbfeff"], ["SigBlk:\tfffffffe7ffbfeff"]]
            #expect(eventually { all.contains(monitorSignalMasks()) })
            registration.cancel()
        }
        withExtendedLifetime(sandbox) {}
    }
}

/// Returns the system's status of each thread of a monitor.
func monitorThreads() -> [String] {
    let tasks = (try? SystemFile.names("/proc/self/task")) ?? []
    return tasks.compactMap { task in
        let status = (try? SystemFile.read("/proc/self/task/\(task)/status")) ?? []
        let text = String(decoding: status, as: UTF8.self)
        return text.hasPrefix("Name:\tfile-monitor\n") ? text : nil
    }
}

/// Returns the blocked signals of each thread of a monitor.
func monitorSignalMasks() -> [String] {
    monitorThreads().compactMap { status in
        status.split(separator: "\n").first { $0.hasPrefix("SigBlk") }.map(String.init)
    }
}

/// Returns the number of inotify instances of this process.
func instances() throws -> Int {
    try inotifyDescriptors().count
}

/// Returns the number of directories that the process's instances watch.
func watches() throws -> Int {
    try inotifyDescriptors().reduce(0) { sum, descriptor in
        let facts = String(decoding: try SystemFile.read("/proc/self/fdinfo/\(descriptor)"), as: UTF8.self)
        return sum + facts.split(separator: "\n").filter { $0.hasPrefix("inotify ") }.count
    }
}

private func inotifyDescriptors() throws -> [String] {
    try SystemFile.names("/proc/self/fd").filter {
        (try? SystemFile.linkTarget("/proc/self/fd/\($0)")) == "anon_inode:inotify"
    }
}
