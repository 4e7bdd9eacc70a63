import Glibc
import TestSupport
import Testing

@Suite struct ListTextTests {
    @Test func splittingAtSpacesGivesTheColumns() throws {
        let sandbox = try Sandbox.initialised()
        try sandbox.put("a", "1", ["--expires-in", "1h"])
        try sandbox.put("b", "1", ["--accessible", "after-first-unlock"])
        try sandbox.put("c", "1")
        try sandbox.flip(sandbox.record("c"), at: 100)
        try SystemFile.write(sandbox.record("d é\tf"), [1])
        let lines = try sandbox.succeed(["list"]).outputText.split(separator: "\n")
        let rows = lines.map { $0.split(separator: " ").map { String($0) } }
        #expect(rows.allSatisfy { $0.count == 8 })
        #expect(rows.map { $0[0] } == ["NAME", "a", "b", "c", #"d\u{20}é\u{9}f"#])
        #expect(rows[1][7] == "current" && rows[1][6] == "after-first-unlock" && rows[2][4] == "never")
        #expect(rows[1][4].hasSuffix("Z") && rows[1][4].contains("T"))
        #expect(rows[3][7].hasPrefix("refused:") && rows[4][7] == "refused:invalidName")
        // Each column begins, or ends, at the position of its title.
        let state = try #require(lines[0].firstRange(of: "STATE")).lowerBound.utf16Offset(in: lines[0])
        #expect(lines[1].dropFirst(state).hasPrefix("current"))
    }

    @Test(arguments: ["my record", "récord", "日本", "a\tb", "a:b", "a//b", ".a", "a/.b", "a/", "/a", "a/x.sealed/b", ""])
    func anInvalidNameIsRefusedWithItsFault(name: String) throws {
        let sandbox = try Sandbox.initialised()
        for command in [["put", name, "-"], ["get", name], ["edit", name], ["history", name], ["watch", name]] {
            let result = try sandbox.sealctl(command + ["--json"], input: Array("1".utf8))
            #expect(result.exitCode == 64)
            let error = try decode(MachineError.self, result.errors)
            #expect(error.code == "invalidName")
            #expect(error.message.count > "cannot use the record name : .".count && !error.hint.isEmpty)
        }
    }

    @Test(.enabled(if: PseudoTerminal.canControl))
    func controlCharactersAreNothingForATerminal() throws {
        let sandbox = try Sandbox.initialised()
        // U+009B begins commands on some terminals.
        try sandbox.put("a", "\"\u{9B}31m\"")
        let terminal = try PseudoTerminal()
        let shell = "exec setsid -cw \"$@\" <\"$0\" >\"$0\""
        let refused = try ChildProcess(
            "/bin/sh", ["-c", shell, terminal.path, builtProduct("sealctl"), "get", "a"],
            environment: sandbox.environment, directory: sandbox.path("files"))
        #expect(try refused.finish().exitCode == 64)
        #expect(!terminal.readRest().contains("31m"))
        let meant = try ChildProcess(
            "/bin/sh", ["-c", shell, terminal.path, builtProduct("sealctl"), "get", "a", "-o", "-"],
            environment: sandbox.environment, directory: sandbox.path("files"))
        #expect(try meant.finish().exitCode == 0)
        #expect(try sandbox.succeed(["get", "a"]).outputText == "\"\u{9B}31m\"")
    }
}
