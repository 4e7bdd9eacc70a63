import Glibc
import GroupFileCoordination
import SharedFiles
import TestSupport
import Testing

/// Tests of objects that another member plants in the domain: they are ignored, or cost the time limit.
@Suite(.timeLimit(.minutes(10))) struct PlantedPresenterTests {
    private let sandbox: CoordinationSandbox
    private let name = "0123456789abcdef"

    init() throws {
        sandbox = try CoordinationSandbox()
        try sandbox.write("file", "0")
    }

    enum Plant: String, CaseIterable, Sendable {
        case garbage, empty, huge, truncated, fifo, link, directory
    }

    private func plant(_ plant: Plant, as file: String) throws {
        let domain = "domain/" + file
        switch plant {
        case .garbage: try sandbox.place.file(domain, String(repeating: "\u{1}garbage", count: 500))
        case .empty: try sandbox.place.file(domain, "")
        case .huge: try sandbox.place.file(domain, String(repeating: "x", count: 2 << 20))
        case .truncated: try sandbox.place.file(domain, "SPI1\u{1}\0\0\0\u{1}\0")
        case .fifo: try sandbox.place.fifo(domain)
        case .link: try sandbox.place.link(domain, to: "../items/file")
        case .directory: try sandbox.place.directory(domain)
        }
    }

    @Test(arguments: Plant.allCases) func aPlantedRegistrationIsPassedOver(_ kind: Plant) throws {
        try plant(kind, as: name + ".items")
        #expect(sandbox.code(.writing(sandbox.path("file"))) == nil)
        let presenter = try sandbox.presenter("file")
        #expect(sandbox.code(.writing(sandbox.path("file")), milliseconds: 60_000) == nil)
        #expect(try presenter.readLine() == "relinquish to writer")
        #expect(SystemFile.exists(sandbox.place.path("domain/\(name).items")))
    }

    private func registration() -> [UInt8] { PlantedSocket.registration(of: [sandbox.path("file")]) }

    @Test(arguments: [Plant.garbage, .fifo, .link, .directory])
    func otherFilesUnderASocketsNameAreSkipped(_ kind: Plant) throws {
        try SystemFile.write(sandbox.place.path("domain/\(name).items"), registration())
        try plant(kind, as: name + ".socket")
        #expect(sandbox.code(.writing(sandbox.path("file"))) == nil)
        #expect(try sandbox.text("file") == "0")
    }

    @Test func aSocketWithoutAnAnswerCostsTheTimeLimit() throws {
        try SystemFile.write(sandbox.place.path("domain/\(name).items"), registration())
        let listener = PlantedSocket.make()
        defer { close(listener) }
        try #require(PlantedSocket.bind(listener, to: sandbox.place.path("domain/\(name).socket")) == 0)
        try #require(listen(listener, 0) == 0)
        // The second client does not even get a place in the queue.
        for _ in 0..<3 {
            #expect(sandbox.code(.writing(sandbox.path("file")), milliseconds: 20) == .presenterTimeout)
        }
        #expect(sandbox.code(.writing(sandbox.path("other"))) == nil)
    }

    @Test func aSocketThatHangsUpRefusesTheAccess() throws {
        try SystemFile.write(sandbox.place.path("domain/\(name).items"), registration())
        let listener = PlantedSocket.make()
        try #require(PlantedSocket.bind(listener, to: sandbox.place.path("domain/\(name).socket")) == 0)
        try #require(listen(listener, 8) == 0)
        let outcomes = try concurrently(2) { index -> FileError.Code? in
            if index == 0 {
                defer { shutdown(listener, Int32(SHUT_RDWR)) }
                return sandbox.code(.writing(sandbox.path("file")), milliseconds: 50)
            }
            while case let socket = accept(listener, nil, nil), socket >= 0 { close(socket) }
            return nil
        }
        // The time limit may expire while a connection is open.
        let code = try #require(try outcomes.compactMap { try $0.get() }.first)
        #expect([.presenterFailed, .presenterTimeout].contains(code))
        close(listener)
        #expect(sandbox.code(.writing(sandbox.path("file"))) == nil)
    }

    @Test func garbageSentToAPresenterClosesThatConnectionOnly() throws {
        let presenter = try sandbox.presenter("file")
        let names = try SystemFile.names(sandbox.place.path("domain"))
        let address = sandbox.place.path("domain/\(try #require(names.first { $0.hasSuffix(".socket") }))")
        let packets: [[UInt8]] = [
            [1], Array("SPM1".utf8), Array("SPM1".utf8) + [1, 0xFF, 0xFF],
            Array("SPM1".utf8) + [2, 1, 0, 1, 3, 0, 0x2E],
            [UInt8](repeating: 0x41, count: 100_000), Array("SPM1".utf8) + [3],
        ]
        for packet in packets {
            let client = PlantedSocket.make()
            defer { close(client) }
            try #require(PlantedSocket.connect(client, to: address) == 0)
            #expect(send(client, packet, packet.count, Int32(MSG_NOSIGNAL)) == packet.count)
            var byte: UInt8 = 0
            #expect(recv(client, &byte, 1, 0) <= 0)
        }
        #expect(sandbox.code(.writing(sandbox.path("file")), milliseconds: 60_000) == nil)
        #expect(try presenter.readLine() == "relinquish to writer")
    }

    //  A member opens idle connections. Members of other users could as well; they get no more than their share.
    @Test func idleConnectionsAreLimited() throws {
        let presenter = try sandbox.presenter("file")
        let names = try SystemFile.names(sandbox.place.path("domain"))
        let address = sandbox.place.path("domain/\(try #require(names.first { $0.hasSuffix(".socket") }))")
        var clients: [Int32] = []
        defer { clients.forEach { close($0) } }
        for _ in 0..<100 {
            let client = PlantedSocket.make()
            try #require(PlantedSocket.connect(client, to: address) == 0)
            clients.append(client)
        }
        var byte: UInt8 = 0
        #expect(recv(clients[99], &byte, 1, 0) == 0)
        #expect(try SystemFile.names("/proc/\(presenter.pid)/fd").count < 90)
    }

    @Test func aLockFileThatIsInvalidIsRefused() throws {
        try sandbox.place.fifo("domain/.lock")
        #expect(sandbox.code(.writing(sandbox.path("file"))) == .notRegularFile)
        try #require(unlink(sandbox.place.path("domain/.lock")) == 0)
        try sandbox.place.link("domain/.lock", to: "../items/file")
        #expect(sandbox.code(.writing(sandbox.path("file"))) == .unsafePath)
        try #require(unlink(sandbox.place.path("domain/.lock")) == 0)
        try #require(link(sandbox.path("file"), sandbox.place.path("domain/.lock")) == 0)
        #expect(sandbox.code(.writing(sandbox.path("file"))) == .secondName)
    }
}
