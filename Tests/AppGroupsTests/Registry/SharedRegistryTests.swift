import AppGroups
import Glibc
import SharedFiles
import TestSupport
import Testing

/// Tests of containers and registries that several unix users share.
@Suite(.enabled(if: geteuid() == 0, "only root can make files of another unix group")) struct SharedRegistryTests {
    private let yard: RegistryYard
    private let members: UInt32 = 65534

    init() throws { yard = try RegistryYard() }

    @Test func theRegistryIsAsSharedAsItsContainer() throws {
        try chmodAbove()
        let container = try yard.registry.register(yard.member("app"), behavior: .iOS, sharing: .unixGroup(members))
        #expect(container.sharing == .unixGroup(members))
        #expect(mode(of: "\(yard.root)/Registry") == 0o3770)
        #expect(mode(of: "\(yard.root)/Registry/\(yard.group)") == 0o2770)
        #expect(mode(of: yard.file) == 0o660)
        #expect(mode(of: "\(container.path)/.sealedstate.container") == 0o660)
        for path in [yard.file, container.path, "\(container.path)/.sealedstate.container"] {
            #expect(status(of: path)?.st_gid == members)
        }
    }

    @Test func whatFollowsAResetIsSharedAsBefore() throws {
        try chmodAbove()
        try yard.registry.register(yard.member("app"), behavior: .iOS, sharing: .unixGroup(members))
        try yard.registry.reset()
        #expect(try yard.open().sharing == .unixGroup(members))
        try yard.registry.unregister("app")
        #expect(try yard.open().sharing == .unixGroup(members))
    }

    @Test func aPrivateContainerInASharedHomeKeepsItsRegistryToItself() throws {
        try chmodAbove()
        let shared = try AppGroup("group.com.example.shared")
        _ = try GroupContainer.open(shared, in: yard.home, sharing: .unixGroup(members))
        try yard.register("app", .iOS)
        #expect(mode(of: "\(yard.root)/Registry") == 0o3770)
        #expect(mode(of: "\(yard.root)/Registry/\(yard.group)") == 0o700)
        #expect(mode(of: yard.file) == 0o600)
    }

    @Test func anotherMembersRegistryDoesNotGovernAPrivateContainer() async throws {
        await #expect(processExitsWith: .success) {
            // A member of the group, so that the other one's directory is trusted as such.
            #expect(setegid(65534) == 0)
            let yard = try RegistryYard()
            #expect(chmod(yard.temporary.base, 0o755) == 0)
            let shared = try AppGroup("group.com.example.shared")
            _ = try GroupContainer.open(shared, in: yard.home, sharing: .unixGroup(65534))
            let mine = try yard.open()
            try yard.mark(mine)
            try yard.registry.setQuota(1)
            // In a sticky directory a member may create a directory whose name is free.
            let registry = yard.shell("\(yard.root)/Registry")
            run("cd \(registry) && chown -R 12345:65534 \(yard.group) && chmod 2770 \(yard.group)")
            #expect(code { _ = try yard.open() } == .unsafeContainer)
            #expect(code { try yard.registry.reset() } == .unsafeContainer)
            #expect(yard.hasMark(mine))
        }
    }

    /// Opens everything above to the group's members.
    private func chmodAbove() throws { #expect(chmod(yard.temporary.base, 0o755) == 0) }
}
