import AppGroups
import GroupIPC
import TestSupport
import Testing

/// Tests of registered peers: they are accepted.
@Suite struct MemberPeerTests {
    private let sandbox: IPCSandbox
    private let registry: GroupRegistry

    init() throws {
        sandbox = try IPCSandbox()
        registry = GroupRegistry(sandbox.group, in: sandbox.home)
    }

    private func connect(_ container: GroupContainer) throws {
        _ = try GroupSocketConnection(to: "service", in: container, peers: .members(of: registry))
    }

    @Test func aMembersProgramIsAcceptedUntilItIsTakenOut() throws {
        let container = sandbox.container
        let listener = try GroupSocketListener("service", in: container)
        try withExtendedLifetime(listener) {
            #expect(groupError { try connect(container) }?.code == .peerRefused)
            try registry.register(.thisProgram(applicationIdentifier: "tests"))
            try connect(container)
            try registry.unregister("tests")
            #expect(groupError { try connect(container) }?.code == .peerRefused)
        }
    }

    @Test func aDamagedRegistryHasNoMembers() throws {
        let container = try registry.register(.thisProgram(applicationIdentifier: "tests"))
        let listener = try GroupSocketListener("service", in: container)
        try SystemFile.write("\(sandbox.root)/Registry/\(sandbox.group)/container.plist", Array("x".utf8))
        withExtendedLifetime(listener) { #expect(groupError { try connect(container) }?.code == .peerRefused) }
    }
}
