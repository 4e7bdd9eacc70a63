import Glibc
import TestSupport
import Testing

/// Tests of the required owner of a configuration.
@Suite struct ConfigurationOwnerTests {
    private func configured(_ text: String) throws -> (Sandbox, String) {
        let sandbox = try Sandbox.initialised()
        let path = try sandbox.file("config.json", Array(text.utf8))
        return (sandbox, path)
    }

    @Test(arguments: [(mode_t(0o600), Int32(0)), (0o644, 0), (0o664, 78), (0o646, 78), (0o666, 78)])
    func noOtherUserMayWriteIt(mode: mode_t, status: Int32) throws {
        let (sandbox, path) = try configured("{}")
        chmod(path, mode)
        #expect(try sandbox.shell("SEALCTL_CONFIG=config.json $S list").exitCode == status)
    }

    @Test(.enabled(if: geteuid() == 0, "needs two users"))
    func anotherUsersIsRefused() throws {
        let (sandbox, path) = try configured("{}")
        chown(path, 65534, 65534)
        let result = try sandbox.shell("SEALCTL_CONFIG=config.json $S list --json")
        #expect(result.exitCode == 78)
        #expect(try decode(MachineError.self, result.errors).code == "wrongOwner")
    }

    /// Users store such files elsewhere and link to them.
    @Test func aLinkIsFollowed() throws {
        let (sandbox, _) = try configured(#"{"gruop":"x"}"#)
        try sandbox.directory.link("files/link", to: "config.json")
        #expect(try sandbox.shell("SEALCTL_CONFIG=link $S list").exitCode == 78)
    }

    /// A blocking pipe would stop every command.
    @Test func aPipeDoesNotBlock() throws {
        let sandbox = try Sandbox.initialised()
        try sandbox.directory.fifo("files/pipe")
        #expect(try sandbox.shell("SEALCTL_CONFIG=pipe $S list").exitCode == 78)
    }

    @Test func aLargeOneIsRefused() throws {
        let (sandbox, _) = try configured("{\"group\":\"\(String(repeating: "x", count: 70_000))\"}")
        #expect(try sandbox.shell("SEALCTL_CONFIG=config.json $S list").exitCode == 78)
    }
}
