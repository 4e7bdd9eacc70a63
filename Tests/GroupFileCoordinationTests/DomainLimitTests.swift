import Dispatch
import Glibc
import GroupFileCoordination
import SharedFiles
import TestSupport
import Testing

/// Tests of a member that fills the domain or sends without end: the cost in time and memory is bounded.
@Suite(.timeLimit(.minutes(10))) struct DomainLimitTests {
    private let sandbox: CoordinationSandbox

    init() throws {
        sandbox = try CoordinationSandbox()
        try sandbox.write("file", "0")
    }

    @Test func aConnectionThatDoesNotStopTalkingIsEnded() throws {
        let presenter = try sandbox.presenter("file")
        let client = try sandbox.connection()
        defer { close(client) }
        let packet = PlantedSocket.changes(of: Array(repeating: "/elsewhere", count: 64))
        var sent = 0
        while sent < 20_000 && PlantedSocket.send(packet, to: client) { sent += 1 }
        #expect(sent < 20_000)
        #expect(sandbox.code(.writing(sandbox.path("file")), milliseconds: 60_000) == nil)
        #expect(try presenter.readLine() == "relinquish to writer")
    }

    //  member                  presenter
    //                          does something else
    //  25,600 changes
    //                          gets a few
    @Test func aPresenterThatIsBusyIsNotBuriedInNotices() throws {
        let queue = DispatchQueue(label: "busy")
        let presenter = NotingPresenter(sandbox.path(""), queue: queue)
        queue.suspend()
        try FileCoordinator.addFilePresenter(presenter, domain: sandbox.domain)
        defer { FileCoordinator.removeFilePresenter(presenter, domain: sandbox.domain) }
        for round in 0..<2 {
            let client = try sandbox.connection()
            defer { close(client) }
            for index in 0..<200 {
                let paths = (0..<64).map { sandbox.path("\(round) \(index) \($0)") }
                try #require(PlantedSocket.send(PlantedSocket.changes(of: paths), to: client))
            }
            // An invalid message: everything before it has been read when the connection ends.
            try #require(PlantedSocket.send([0], to: client))
            PlantedSocket.awaitEnd(of: client)
        }
        queue.resume()
        #expect(sandbox.code(.writing(sandbox.path("")), milliseconds: 60_000) == nil)
        presenter.wait(for: "writer done")
        #expect(presenter.notes.contains("changed"))
        #expect(presenter.notes.count < 100)
    }

    //  member                  presenter               test
    //                          does something else
    //  ask, hang up; 5 times
    //                                                  write
    //                          give way once
    @Test func aRequestThatWasGivenUpIsNotMade() throws {
        let queue = DispatchQueue(label: "busy")
        let presenter = NotingPresenter(sandbox.path("file"), queue: queue)
        queue.suspend()
        try FileCoordinator.addFilePresenter(presenter, domain: sandbox.domain)
        defer { FileCoordinator.removeFilePresenter(presenter, domain: sandbox.domain) }
        for _ in 0..<5 { #expect(sandbox.code(.writing(sandbox.path("file"))) == .presenterTimeout) }
        queue.resume()
        #expect(sandbox.code(.writing(sandbox.path("file")), milliseconds: 60_000) == nil)
        presenter.wait(for: "writer done")
        #expect(presenter.notes.count { $0 == "writer" } == 1)
    }

    private func plant(_ index: Int, _ bytes: [UInt8]) throws -> String {
        let digits = String(index, radix: 16)
        let name = "domain/" + String(repeating: "0", count: 16 - digits.count) + digits
        try SystemFile.write(sandbox.place.path(name + ".items"), bytes)
        return sandbox.place.path(name)
    }

    enum Overload: String, CaseIterable, Sendable { case files, bytes, names }

    @Test(arguments: Overload.allCases) func moreRegistrationsThanAnyUseHasAreRefused(_ overload: Overload) throws {
        let long = PlantedSocket.registration(
            of: Array(repeating: "/" + String(repeating: "x", count: 2500), count: 100))
        var planted: [String] = []
        switch overload {
        case .files: for index in 0..<1025 { planted.append(try plant(index, []) + ".items") }
        case .bytes: for index in 0..<17 { planted.append(try plant(index, long) + ".items") }
        case .names:
            for index in 0..<16_400 {
                planted.append(sandbox.place.path("domain/name \(index)"))
                try SystemFile.write(planted[index], [])
            }
        }
        #expect(sandbox.code(.writing(sandbox.path("file")), milliseconds: 60_000) == .presenterFailed)
        for path in planted { try #require(unlink(path) == 0) }
        #expect(sandbox.code(.writing(sandbox.path("file"))) == nil)
    }

    @Test func aCancelledCoordinatorReadsNoRegistration() throws {
        for index in 0..<500 { _ = try plant(index, PlantedSocket.registration(of: ["/elsewhere"])) }
        #expect(sandbox.code(.writing(sandbox.path("file")), milliseconds: 60_000) == nil)
        let coordinator = sandbox.coordinator()
        coordinator.cancel()
        #expect(sandbox.code(.writing(sandbox.path("file")), by: coordinator) == .cancelled)
    }

    /// A registration is read again only after a change of its file.
    @Test func aRegistrationThatChangesAfterItWasSeenIsReadAgain() throws {
        let name = try plant(7, PlantedSocket.registration(of: [sandbox.path("lift")]))
        let listener = PlantedSocket.make()
        defer { close(listener) }
        try #require(PlantedSocket.bind(listener, to: name + ".socket") == 0)
        try #require(listen(listener, 8) == 0)
        var times = [timespec(tv_sec: 1_000_000_000, tv_nsec: 0), timespec(tv_sec: 1_000_000_000, tv_nsec: 0)]
        try #require(utimensat(AT_FDCWD, name + ".items", &times, 0) == 0)
        for _ in 0..<2 { #expect(sandbox.code(.writing(sandbox.path("file"))) == nil) }
        // In place, of the same size: only the time differs.
        try SystemFile.write(name + ".items", PlantedSocket.registration(of: [sandbox.path("file")]))
        #expect(sandbox.code(.writing(sandbox.path("file"))) == .presenterTimeout)
        #expect(sandbox.code(.writing(sandbox.path("lift"))) == nil)
    }

    //  One process, or many, that register the file 100 times, and give way each time.
    @Test func anAccessOpensNoMoreThanSoManyConnections() throws {
        let listener = PlantedSocket.make()
        let first = try plant(0, PlantedSocket.registration(of: [sandbox.path("file")])) + ".socket"
        try #require(PlantedSocket.bind(listener, to: first) == 0)
        try #require(listen(listener, 200) == 0)
        for index in 1..<100 {
            let name = try plant(index, PlantedSocket.registration(of: [sandbox.path("file")]))
            try #require(link(first, name + ".socket") == 0)
        }
        let outcomes = try concurrently(2) { index -> (code: FileError.Code?, count: Int) in
            if index == 0 {
                defer { shutdown(listener, Int32(SHUT_RDWR)) }
                return (sandbox.code(.writing(sandbox.path("file")), milliseconds: 60_000), 0)
            }
            var accepted: [Int32] = []
            while case let socket = accept(listener, nil, nil), socket >= 0 {
                accepted.append(socket)
                _ = PlantedSocket.send(PlantedSocket.ready, to: socket)
            }
            accepted.forEach { close($0) }
            return (nil, accepted.count)
        }
        close(listener)
        let all = try outcomes.map { try $0.get() }
        #expect(all.contains { $0.code == .presenterFailed })
        #expect(all.contains { $0.count == 64 })
    }

    //  A process without a descriptor for a new connection to its presenters waits, and does not spin.
    @Test func aProcessOutOfDescriptorsRestsUntilItHasSome() throws {
        let presenter = try sandbox.presenter("file")
        let process = "\(presenter.pid)"
        try #require(ChildProcess.run("/usr/bin/prlimit", ["--pid", process, "--nofile=3:1024"]).exitCode == 0)
        let client = try sandbox.connection()
        defer { close(client) }
        let before = try ticks(of: presenter.pid)
        usleep(1_500_000)
        // Hundredths of a second of processor time.
        #expect(try ticks(of: presenter.pid) - before < 30)
        try #require(ChildProcess.run("/usr/bin/prlimit", ["--pid", process, "--nofile=1024:1024"]).exitCode == 0)
        #expect(sandbox.code(.writing(sandbox.path("file")), milliseconds: 60_000) == nil)
        #expect(try presenter.readLine() == "relinquish to writer")
    }

    private func ticks(of process: Int32) throws -> Int {
        let text = String(decoding: try SystemFile.read("/proc/\(process)/stat"), as: UTF8.self)
        let fields = try #require(text.split(separator: ")").last).split(separator: " ")
        return try #require(Int(fields[11])) + #require(Int(fields[12]))
    }
}
