import FoundationEssentials
import Glibc
import TestSupport
import Testing

/// Tests that the documents cover the program's options, the fields of its JSON, its statuses and warnings.
@Suite struct DocumentTests {
    private static let commands = HelpTests.all

    private static func help(_ command: String) throws -> String {
        try Sandbox().succeed(command.split(separator: " ").map { String($0) } + ["--help"]).outputText
    }

    /// Returns every long option that a help text declares, such as `--json`.
    private static func options(in help: String) -> Set<String> {
        let lines = help.split(separator: "\n").filter { $0.hasPrefix("  -") }
        let words = lines.flatMap { $0.prefix { $0 != "<" }.split(whereSeparator: { " ,=".contains($0) }) }
        return Set(words.filter { $0.hasPrefix("--") }.map { String($0) })
    }

    @Test(arguments: commands)
    func everyOptionIsInBothDocuments(command: String) throws {
        let options = Self.options(in: try Self.help(command))
        // These two only have subcommands.
        let isParent = ["vault slot", "container trash"].contains(command)
        #expect(options.contains("--help") && (options.contains("--json") || isParent))
        let guide = try SourceText.read("docs/sealctl.md")
        let page = try SourceText.read("docs/sealctl.1")
        for option in options {
            #expect(Self.names(guide, option), "docs/sealctl.md has no \(option)")
            #expect(Self.names(page, option.dropFirst()), "docs/sealctl.1 has no \(option)")
        }
    }

    /// Returns `true` if a text contains the option, and not only a longer one with the same beginning.
    private static func names(_ text: String, _ option: some StringProtocol) -> Bool {
        text.ranges(of: String(option)).contains { range in
            text[range.upperBound...].first.map { !$0.isLetter && $0 != "-" } ?? true
        }
    }

    @Test func theStatusesAreThoseOfBothDocuments() throws {
        let declared = try SourceText.read("Sources/Tools/sealctl/Terminal/ExitStatus.swift").split(separator: "\n")
            .filter { $0.contains("    case ") }.compactMap {
                $0.split(separator: "=").last.flatMap { Int($0.dropFirst()) }
            }
        let guide = try SourceText.read("docs/sealctl.md").split(separator: "\n")
        let page = try SourceText.read("docs/sealctl.1").split(separator: "\n")
        let rows = guide.compactMap { Int($0.split(separator: "|").first?.filter { $0 != " " } ?? "") }
        #expect(rows == declared)
        #expect(page.compactMap { $0.hasPrefix(".It ") ? Int($0.dropFirst(4)) : nil } == declared)
    }

    /// The topic of the help is made from the statuses themselves.
    @Test func theMeaningsOfStatusesAreThoseOfBothDocuments() throws {
        let topic = try Sandbox().succeed(["help", "exit-status"]).outputText.split(separator: "\n")
        let meanings = topic.compactMap { line -> (Int, String)? in
            let words = line.split(separator: " ", maxSplits: 1)
            guard line.hasPrefix(" "), let number = words.first.flatMap({ Int($0) }) else { return nil }
            return (number, words[1].drop { $0 == " " }.description)
        }
        #expect(meanings.count == 20)
        let guide = try SourceText.read("docs/sealctl.md")
        let page = try SourceText.read("docs/sealctl.1").replacing(".Nm .", with: "sealctl.")
        for (number, meaning) in meanings {
            #expect(guide.contains("| \(number) | \(meaning) |"))
            let sentence = meaning.prefix(1).uppercased() + meaning.dropFirst() + "."
            #expect(page.replacing("\n", with: " ").contains(".It \(number) \(sentence)"))
        }
    }

    @Test func everyWarningIsInTheGuide() throws {
        let source = try SourceText.read("Sources/Tools/sealctl/Vault/VaultAcceptCommand.swift")
        let words = source.split(separator: "\"").filter { $0.hasPrefix("watermarks") && $0.allSatisfy(\.isLetter) }
        #expect(words.count == 4)
        let guide = try SourceText.read("docs/sealctl.md")
        for word in words { #expect(guide.contains("`\(word)`")) }
    }
}

/// Tests that the JSON has the fields that the documents list, in the same order.
@Suite struct DocumentedFieldTests {
    private static func sandbox() throws -> Sandbox {
        let sandbox = try Sandbox.initialised()
        try sandbox.put("a", "{}")
        return sandbox
    }

    /// Returns the first list of fields in the row of a command.
    private static func documented(_ row: String) throws -> [String] {
        let guide = try SourceText.read("docs/sealctl.md").split(separator: "\n")
        let line = try #require(guide.first { $0.hasPrefix("| \(row) |") && $0.contains("{\"") })
        let start = try #require(line.firstRange(of: "{\"")).lowerBound
        return line[start...].prefix { $0 != "}" }.split(separator: "\"").filter { $0.allSatisfy(\.isLetter) }.map(
            String.init)
    }

    /// Returns the fields of the outermost object, or of the first object of an array, in their order in the text.
    private static func fields(_ result: ChildResult) -> [String] {
        var depth = 0
        var names: [String] = []
        var text = result.outputText[...]
        if text.first == "[" { text = text.dropFirst() }
        while let character = text.popFirst() {
            switch character {
            case "{", "[": depth += 1
            case "}", "]":
                depth -= 1
                if depth == 0 { return names }
            case "\"":
                let word = text.prefix { $0 != "\"" }
                text = text[word.endIndex...].dropFirst()
                if depth == 1 && text.first == ":" { names.append(String(word)) }
            default: break
            }
        }
        return names
    }

    @Test(arguments: [
        ("`put`, `delete`", ["put", "b", "-"]), ("`put`, `delete`", ["delete", "a"]), ("`list`", ["list"]),
        ("`file put`, `file delete`", ["file", "put", "b", "-"]),
        ("`mailbox send`", ["mailbox", "send", "b", "-"]), ("`mailbox list`", ["mailbox", "list"]),
        ("`mailbox take`, `mailbox peek`", ["mailbox", "peek", "a"]), ("`mailbox dead`", ["mailbox", "dead", "a"]),
        ("`mailbox reset`", ["mailbox", "reset", "a", "--yes"]),
        ("`history`", ["history", "a"]), ("`snapshot`", ["snapshot", "-o", "x.tar"]),
        ("`snapshot restore`", ["snapshot", "restore", "s"]),
        ("`inspect`", ["inspect", "a"]), ("`explain NAME` of a record", ["explain", "a"]),
        ("`explain NAME` of a rejection", ["explain", "stale"]), ("`explain NAME` of a rejection", ["explain"]),
        ("`init`", ["init", "--group", "group.other"]), ("`vault status`", ["vault", "status"]),
        ("`vault keys`", ["vault", "keys"]), ("`vault slot list`, `add`", ["vault", "slot", "list"]),
        ("`vault rotate`", ["vault", "rotate"]), ("`vault rotate --status`", ["vault", "rotate", "--status"]),
        ("`vault log`", ["vault", "log"]), ("`vault accept`", ["vault", "accept", "--yes"]),
        ("`vault lock`", ["vault", "lock"]), ("`vault slot remove`, `vault rekey`", ["vault", "rekey", "--yes"]),
        ("`container list`", ["container", "list"]), ("`container path`", ["container", "path"]),
        ("`container usage`", ["container", "usage"]), ("`container reset`", ["container", "reset", "--yes"]),
        ("`container accept`", ["container", "accept", "--yes"]),
        ("`container backend`", ["container", "backend"]),
        ("`container quota`", ["container", "quota"]),
        ("`container record-limit`", ["container", "record-limit"]), ("`writer new`", ["writer", "new", "key"]),
        ("`roster init`", ["roster", "init", "--team-key", "key", "--unprotected"]),
        ("`entitlements explain`", ["entitlements", "explain", "ENT001"]),
        ("`entitlements explain`", ["entitlements", "explain"]),
    ])
    func theFieldsAreTheDocumentedOnes(row: String, command: [String]) throws {
        let sandbox = try Self.sandbox()
        if command.first == "mailbox" {
            for _ in 0..<2 { try sandbox.succeed(["mailbox", "send", "a", "-"], input: Array("{}".utf8)) }
            try sandbox.succeed(["mailbox", "take", "a", "--limit", "1"])
            try sandbox.succeed(["mailbox", "ack", "a", "sealctl/1", "--dead", "test"])
        }
        if command.contains("restore") {
            try sandbox.succeed(["snapshot", "-o", "s"])
            unlink(sandbox.record("a"))
        }
        let result = try sandbox.succeed(command + ["--json"], input: Array("{}".utf8))
        #expect(try Self.fields(result) == Self.documented(row))
    }

    @Test func theFieldsOfAPurgeAreTheDocumentedOnes() throws {
        let sandbox = try Self.sandbox()
        try sandbox.succeed(["delete", "a"])
        let result = try sandbox.succeed(["delete", "a", "--purge", "--json"])
        #expect(try Self.fields(result) == Self.documented("`delete --purge`"))
    }

    @Test func theFieldsOfTheAuditAreTheDocumentedOnes() throws {
        let sandbox = try Self.sandbox()
        try SystemFile.write(sandbox.container + "/open", Array("text".utf8))
        let text = try sandbox.sealctl(["audit", "--json"]).outputText
        let report = try #require(text.firstRange(of: "\"files\":") == nil ? nil : text)
        let document = try SourceText.read("docs/audit-checks.md")
        let section = try #require(document.firstRange(of: "## The report as JSON"))
        let rest = document[section.upperBound...].split(whereSeparator: { !$0.isLetter })
        var names: Set<Substring> = []
        var remaining = report[...]
        while let quote = remaining.firstIndex(of: "\"") {
            remaining = remaining[quote...].dropFirst()
            let word = remaining.prefix { $0 != "\"" }
            remaining = remaining[word.endIndex...].dropFirst()
            if remaining.first == ":" { names.insert(word) }
        }
        #expect(names.isSuperset(of: ["containerPath", "findings", "keyID", "isDeleted", "remedy"]))
        for name in names { #expect(rest.contains(name), "docs/audit-checks.md has no \(name)") }
    }
}
