import TestSupport
import Testing

/// Tests of the words of a refused value.
@Suite struct UsageErrorTests {
    @Test(
        arguments: [
            (["audit", "-f", "xml"], ["table", "json", "jsonl", "sarif", "junit", "csv", "html"]),
            (["defaults", "export", "x", "-", "--format", "yaml"], ["xml", "binary"]),
            (["vault", "unlock", "--for", "5"], ["30s", "15m", "8h"]),
            (["put", "a", "-", "--expires-in", "10"], ["30s", "15m", "8h"]),
            (["edit", "a", "--expires-in", "soon"], ["30s", "15m", "8h"]),
            (["repair", "--quarantine-older-than", "30"], ["30s", "15m", "8h"]),
            (["vault", "log", "--since", "yesterday"], ["15m", "2026-11-21"]),
            (["container", "trash", "empty", "--older-than", "30"], ["15m", "2026-11-21"]),
        ] as [([String], [String])])
    func theAcceptedValuesAreNamed(arguments: [String], accepted: [String]) throws {
        let result = try Sandbox().sealctl(arguments + ["--json"])
        #expect(result.exitCode == 64 && result.output.isEmpty)
        let error = try decode(MachineError.self, result.errors)
        #expect(error.code == "usage")
        #expect(accepted.allSatisfy { error.message.contains($0) }, "\(error.message)")
    }
}
