import AppGroups
import TestSupport
import Testing

/// Who is registered is talked to.
@Suite struct MemberPeerTests {
    private let yard: RegistryYard

    init() throws { yard = try RegistryYard() }

    private func connect(_ container: GroupContainer) throws {
        _ = try GroupSocketConnection(to: "service", in: container, peers: .members(of: yard.registry))
    }

    @Test func aMembersProgramIsAcceptedUntilItIsTakenOut() throws {
        let container = try yard.open()
        let listener = try GroupSocketListener("service", in: container)
        try withExtendedLifetime(listener) {
            #expect(code { try connect(container) } == .peerRefused)
            try yard.registry.register(.thisProgram(applicationIdentifier: "tests"))
            try connect(container)
            try yard.registry.unregister("tests")
            #expect(code { try connect(container) } == .peerRefused)
        }
    }

    @Test func whereTheRegistryIsDamagedNobodyIsAMember() throws {
        let container = try yard.registry.register(.thisProgram(applicationIdentifier: "tests"))
        let listener = try GroupSocketListener("service", in: container)
        try SystemFile.write(yard.file, Array("x".utf8))
        withExtendedLifetime(listener) { #expect(code { try connect(container) } == .peerRefused) }
    }
}
