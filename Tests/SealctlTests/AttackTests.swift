import TestSupport
import Testing

/// Tests with attacks on the vault and with the second implementation of its format, which is written in Python from
/// the documents alone.
@Suite struct AttackTests {
    private static let root = #filePath.split(separator: "/").dropLast(3).reduce(into: "") { $0 += "/\($1)" }
    private static let programs: [String] =
        (try? SystemFile.names("\(root)/Tests/Support/attacks"))?
        .filter { $0.hasSuffix(".py") && !["lab.py", "run.py", "channel_ends.py"].contains($0) }.sorted() ?? []

    private func python(_ arguments: [String], _ sandbox: Sandbox) throws -> ChildResult {
        try ChildProcess.run(
            Python.path, ["-B"] + arguments, environment: ["SEALCTL": builtProduct("sealctl")],
            directory: sandbox.path("files"), timeLimit: .seconds(600))
    }

    /// A program ends with 0 only if every assertion held and the attack was carried out.
    @Test(arguments: programs) func anAttackFails(program: String) throws {
        let result = try python(["\(Self.root)/Tests/Support/attacks/\(program)"], Sandbox())
        #expect(result.exitCode == 0, "\(result.outputText)\(result.errorText)")
    }

    @Test func thereAreAttacks() { #expect(Self.programs.count >= 30) }

    @Test func theSecondImplementationAgreesWithItself() throws {
        let sandbox = try Sandbox()
        let result = try python(["\(Self.root)/Fixtures/vectors/vault.py", "--selftest"], sandbox)
        #expect(result.exitCode == 0, "\(result.outputText)\(result.errorText)")
    }
}
