import TestSupport
import Testing

@Suite struct AuditCommandTests {
    @Test func aCleanContainerIsClean() throws {
        let sandbox = try Sandbox.initialised()
        try sandbox.put("a", "{}")
        let result = try sandbox.sealctl(["audit", "--json"])
        #expect(result.exitCode == 0, "\(result.outputText)")
        let report = try decode(MachineAudit.self, result.output)
        #expect(report.isClean && report.withKeys)
        #expect(try sandbox.succeed(["audit", "--all-files"]).outputText.contains("a.sealed"))
    }

    @Test func aTamperedRecordIsAFinding() throws {
        let sandbox = try Sandbox.initialised()
        try sandbox.put("a", "{\"n\":1}")
        try sandbox.flip(sandbox.record("a"), at: 190)
        let result = try sandbox.sealctl(["audit", "--json"])
        #expect(result.exitCode == 1)
        #expect(result.errors.isEmpty)
        #expect(try !decode(MachineAudit.self, result.output).findings.isEmpty)
        #expect(try sandbox.sealctl(["audit"]).exitCode == 1)
    }

    @Test func withoutKeysNothingFoundIsNotNoFindings() throws {
        let sandbox = try Sandbox()
        try sandbox.file("pass", Array("secret\n".utf8))
        try sandbox.succeed(["init", "--passphrase-file", "pass", "--unlock-time", "1ms"])
        try sandbox.succeed(["put", "a", "-", "--passphrase-file", "pass"], input: Array("{}".utf8))
        let text = try sandbox.succeed(["audit"]).outputText
        #expect(!text.contains("no findings") && text.contains("not opened"))
        #expect(try sandbox.succeed(["audit", "--passphrase-file", "pass"]).outputText.contains("no findings"))
    }

    @Test func plaintextInAContainerIsAFinding() throws {
        let sandbox = try Sandbox.initialised()
        try SystemFile.write(sandbox.container + "/token.json", Array("{\"token\":\"abc\"}".utf8))
        #expect(try sandbox.sealctl(["audit"]).exitCode == 1)
    }

    @Test func anyDirectoryCanBeLookedAtWithoutKeys() throws {
        let sandbox = try Sandbox()
        try sandbox.file("token.json", Array("{\"token\":\"abc\"}".utf8))
        let result = try sandbox.sealctl(["audit", "--json", "."])
        #expect(result.exitCode == 1)
        #expect(try !decode(MachineAudit.self, result.output).withKeys)
    }
}
