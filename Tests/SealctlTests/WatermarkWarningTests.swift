import TestSupport
import Testing

/// Tests that the loss of accepted states, without which an older blob passes, is reported.
@Suite struct WatermarkWarningTests {
    private func damaged() throws -> Sandbox {
        let sandbox = try Sandbox.initialised()
        try sandbox.put("a", "{}")
        let directory = sandbox.path("groups/Watermarks")
        for name in try SystemFile.names(directory) { try sandbox.flip("\(directory)/\(name)", at: 60) }
        return sandbox
    }

    @Test(arguments: [["get", "a"], ["put", "a", "-"], ["delete", "a"], ["list"], ["inspect", "a"]])
    func everyCommandThatOpensAStoreWarnsOnce(command: [String]) throws {
        let sandbox = try damaged()
        let result = try sandbox.sealctl(command, input: Array("{}".utf8))
        #expect(result.exitCode == 0)
        #expect(result.errorText.hasPrefix("sealctl: warning: "))
        #expect(result.errorText.split(separator: "\n").count == 1)
    }

    @Test(arguments: [["vault", "keys"], ["vault", "slot", "list"], ["encrypt", "-o", "out", "plain"]])
    func soDoesEveryCommandThatOpensAVaultAlone(command: [String]) throws {
        let sandbox = try damaged()
        try sandbox.file("plain", [1])
        let result = try sandbox.sealctl(command)
        #expect(result.exitCode == 0)
        #expect(result.errorText.split(separator: "\n").count == 1)
        #expect(result.errorText.hasPrefix("sealctl: warning: "))
    }

    @Test func withJSONTheWarningIsAnObject() throws {
        let result = try damaged().succeed(["get", "a", "--json"])
        let warning = try decode(MachineWarning.self, result.errors)
        #expect(warning.warning == "watermarksDamaged" && !warning.message.isEmpty && !warning.hint.isEmpty)
        #expect(result.outputText == "{}")
    }

    @Test(arguments: [["get", "a"], ["list"], ["inspect", "a"], ["vault", "keys"]])
    func anIntactFileAndAFirstContactAreSilent(command: [String]) throws {
        let sandbox = try Sandbox.initialised()
        try sandbox.put("a", "{}")
        #expect(try sandbox.succeed(command).errors.isEmpty)
        // For another user or another home this is the first contact. Its mark is stored with the vault.
        try sandbox.shell("rm -r ../groups/Watermarks ../groups/Vaults/*/.marks.*")
        #expect(try sandbox.succeed(command).errors.isEmpty)
    }

    @Test func aLostFileIsWarnedOfUntilItIsAccepted() throws {
        let sandbox = try Sandbox.initialised()
        try sandbox.put("a", "{}")
        try sandbox.shell("rm -r ../groups/Watermarks")
        for _ in 0..<2 {
            let warning = try decode(MachineWarning.self, sandbox.succeed(["get", "a", "--json"]).errors)
            #expect(warning.warning == "watermarksLost" && !warning.message.isEmpty && !warning.hint.isEmpty)
        }
        try sandbox.succeed(["vault", "accept", "--yes"])
        #expect(try sandbox.succeed(["get", "a"]).errors.isEmpty)
    }
}
