import AppGroups
import GroupIPC
import TestSupport
import Testing

/// Tests of registered peers: they are accepted.
@Suite struct MemberPeerTests {
    private let yard: IPCYard
    private let registry: GroupRegistry

    init() throws {
        yard = try IPCYard()
        registry = GroupRegistry(yard.group, in: yard.home)
    }

    private func connect(_ container: GroupContainer) throws {
        _ = try GroupSocketConnection(to: "service", in: container, peers: .members(of: registry))
    }

    @Test func aMembersProgramIsAcceptedUntilItIsTakenOut() throws {
        let container = yard.container
        let listener = try GroupSocketListener("service", in: container)
        try withExtendedLifetime(listener) {
            #expect(groupError { try connect(container) }?.code == .peerRefused)
            try registry.register(.thisProgram(applicationIdentifier: "tests"))
            try connect(container)
            try registry.unregister("tests")
            #expect(groupError { try connect(container) }?.code == .peerRefused)
        }
    }

    @Test func whereTheRegistryIsDamagedNobodyIsAMember() throws {
        let container = try registry.register(.thisProgram(applicationIdentifier: "tests"))
        let listener = try GroupSocketListener("service", in: container)
        try SystemFile.write("\(yard.root)/Registry/\(yard.group)/container.plist", Array("x".utf8))
        withExtendedLifetime(listener) { #expect(groupError { try connect(container) }?.code == .peerRefused) }
    }
}
