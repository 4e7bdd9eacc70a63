import AppGroups
import Glibc
import SharedFiles
import TestSupport
import Testing

/// Tests of containers and registries that several unix users share.
@Suite(.enabled(if: geteuid() == 0, "only root can make files of another unix group")) struct SharedRegistryTests {
    private let sandbox: RegistrySandbox
    private let members: UInt32 = 65534

    init() throws { sandbox = try RegistrySandbox() }

    @Test func theRegistryIsAsSharedAsItsContainer() throws {
        try chmodAbove()
        let container = try sandbox.registry.register(
            sandbox.member("app"), behavior: .iOS, sharing: .unixGroup(members))
        #expect(container.sharing == .unixGroup(members))
        #expect(mode(of: "\(sandbox.root)/Registry") == 0o3770)
        #expect(mode(of: "\(sandbox.root)/Registry/\(sandbox.group)") == 0o2770)
        #expect(mode(of: sandbox.file) == 0o660)
        #expect(mode(of: "\(container.path)/.sealedstate.container") == 0o660)
        for path in [sandbox.file, container.path, "\(container.path)/.sealedstate.container"] {
            #expect(status(of: path)?.st_gid == members)
        }
    }

    @Test func theSuccessorOfAResetContainerIsSharedAsBefore() throws {
        try chmodAbove()
        try sandbox.registry.register(sandbox.member("app"), behavior: .iOS, sharing: .unixGroup(members))
        try sandbox.registry.reset()
        #expect(try sandbox.open().sharing == .unixGroup(members))
        try sandbox.registry.unregister("app")
        #expect(try sandbox.open().sharing == .unixGroup(members))
    }

    @Test func aPrivateContainerInASharedHomeKeepsItsRegistryToItself() throws {
        try chmodAbove()
        let shared = try AppGroup("group.com.example.shared")
        _ = try GroupContainer.open(shared, in: sandbox.home, sharing: .unixGroup(members))
        try sandbox.register("app", .iOS)
        #expect(mode(of: "\(sandbox.root)/Registry") == 0o3770)
        #expect(mode(of: "\(sandbox.root)/Registry/\(sandbox.group)") == 0o700)
        #expect(mode(of: sandbox.file) == 0o600)
    }

    @Test func anotherMembersRegistryDoesNotGovernAPrivateContainer() async throws {
        await #expect(processExitsWith: .success) {
            // A member of the group, so that the other one's directory is trusted as such.
            #expect(setegid(65534) == 0)
            let sandbox = try RegistrySandbox()
            #expect(chmod(sandbox.temporary.base, 0o755) == 0)
            let shared = try AppGroup("group.com.example.shared")
            _ = try GroupContainer.open(shared, in: sandbox.home, sharing: .unixGroup(65534))
            let mine = try sandbox.open()
            try sandbox.mark(mine)
            try sandbox.registry.setQuota(1)
            // In a sticky directory a member may create a directory whose name is free.
            let registry = sandbox.shell("\(sandbox.root)/Registry")
            run("cd \(registry) && chown -R 12345:65534 \(sandbox.group) && chmod 2770 \(sandbox.group)")
            #expect(code { _ = try sandbox.open() } == .unsafeContainer)
            #expect(code { try sandbox.registry.reset() } == .unsafeContainer)
            #expect(sandbox.hasMark(mine))
        }
    }

    /// Opens everything above to the group's members.
    private func chmodAbove() throws { #expect(chmod(sandbox.temporary.base, 0o755) == 0) }
}
