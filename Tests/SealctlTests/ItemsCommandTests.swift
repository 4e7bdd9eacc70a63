import TestSupport
import Testing

@Suite struct ItemsCommandTests {
    @Test(arguments: [
        "vault add", "vault find", "vault list", "vault update", "vault delete", "vault export", "vault import", "exec",
    ])
    func everyCommandHasExamples(command: String) throws {
        let result = try Sandbox().succeed(command.split(separator: " ").map { String($0) } + ["--help"])
        #expect(result.outputText.contains("Example"))
        #expect(result.outputText.contains("  sealctl \(command)"))
    }

    @Test(arguments: [0, 1, 4096, 4097, 70_000, 1 << 20])
    func aBinaryValueComesBackByteForByte(size: Int) throws {
        let sandbox = try Sandbox.initialised()
        let value = noise(size)
        try sandbox.file("in", value)
        try sandbox.add("db", "ada", [], ["--value-file", "in"])
        #expect(try sandbox.value("db", "ada") == value)
        try sandbox.succeed(["vault", "find", "-s", "db", "-a", "ada", "-o", "out"])
        #expect(try SystemFile.read(sandbox.path("files/out")) == value)
        #expect(try SystemFile.mode(sandbox.path("files/out")) & 0o777 == 0o600)
    }

    @Test func aValueThatIsTooLargeIsRefused() throws {
        let sandbox = try Sandbox.initialised()
        let result = try sandbox.sealctl(
            ["vault", "add", "-s", "db", "-a", "ada", "--json"], input: noise(1 << 20 + 1))
        #expect(result.exitCode == 65)
        #expect(try decode(MachineError.self, result.errors).code == "tooLarge")
        #expect(try sandbox.items().isEmpty)
    }

    @Test func theEndOfALineIsKeptUnlessLinesAreAskedFor() throws {
        let sandbox = try Sandbox.initialised()
        try sandbox.add("db", "exact", "value\n")
        try sandbox.add("db", "line", "value\nmore\n", ["--line"])
        #expect(try sandbox.value("db", "exact") == Array("value\n".utf8))
        #expect(try sandbox.value("db", "line") == Array("value".utf8))
    }

    @Test func aValueComesFromADescriptor() throws {
        let sandbox = try Sandbox.initialised()
        try sandbox.file("in", Array("value".utf8))
        #expect(try sandbox.shell("$S vault add -s db -a ada --value-fd 7 7<in").exitCode == 0)
        #expect(try sandbox.value("db", "ada") == Array("value".utf8))
    }

    /// A descriptor that the caller did not open could be one of the program's own files.
    @Test(arguments: 3..<10)
    func aDescriptorThatWasNotGivenIsNotAValue(number: Int) throws {
        let sandbox = try Sandbox.initialised()
        let closed = "exec \(number)<&-; $S vault add -s db -a ada --json --value-fd \(number)"
        let result = try sandbox.shell("bash -c '\(closed)'")
        #expect(result.exitCode == 64 || result.exitCode == 74, "\(result.errorText)")
        #expect(try sandbox.items().isEmpty)
    }

    @Test func emptyInputIsNotAValueUnlessItIsNamed() throws {
        let sandbox = try Sandbox.initialised()
        #expect(try sandbox.shell("false | $S vault add -s db -a ada").exitCode == 65)
        #expect(try sandbox.items().isEmpty)
        try sandbox.add("db", "ada", [], ["--value-file", "-"])
        #expect(try sandbox.items().map(\.size) == [0])
    }

    @Test func aDuplicateIsRefusedAndChangesNothing() throws {
        let sandbox = try Sandbox.initialised()
        try sandbox.add("db", "ada", "first")
        let vault = try SystemFile.read(sandbox.vault)
        let result = try sandbox.sealctl(["vault", "add", "-s", "db", "-a", "ada", "--json"], input: [1])
        #expect(result.exitCode == 45)
        #expect(try decode(MachineError.self, result.errors).code == "duplicateItem")
        #expect(try SystemFile.read(sandbox.vault) == vault)
    }

    @Test func oneOfManyThatAddAtOnceWins() throws {
        let sandbox = try Sandbox.initialised()
        let result = try sandbox.shell(
            "for i in 1 2 3 4 5 6 7 8; do (echo $i | $S vault add -s db -a ada 2>/dev/null; echo $?) & done; wait")
        let statuses = result.outputText.split(separator: "\n").sorted()
        #expect(statuses == ["0"] + Array(repeating: "45", count: 7))
    }

    @Test(arguments: [["find"], ["find", "-w"], ["update", "-l", "x"], ["update"], ["delete"]])
    func anUnknownItemIsNotFound(command: [String]) throws {
        let sandbox = try Sandbox.initialised()
        try sandbox.add("db", "ada", "value")
        let arguments = ["vault"] + command + ["-s", "db", "-a", "bob", "--json"]
        let result = try sandbox.sealctl(arguments, input: [1])
        #expect(result.exitCode == 44)
        #expect(try decode(MachineError.self, result.errors).code == "itemNotFound")
    }

    @Test func findingReleasesNoValueUnlessAskedFor() throws {
        let sandbox = try Sandbox.initialised()
        try sandbox.add("db", "ada", "canary-value", ["-l", "Production"])
        let text = try sandbox.succeed(["vault", "find", "-s", "db", "-a", "ada"]).outputText
        #expect(text.contains("Production") && text.contains("after-first-unlock") && !text.contains("canary"))
        let json = try sandbox.succeed(["vault", "find", "-s", "db", "-a", "ada", "--json"])
        #expect(!json.outputText.contains("canary"))
        let item = try decode(MachineItem.self, json.output)
        #expect(item.label == "Production" && item.size == 12 && item.accessibility == "afterFirstUnlock")
    }

    @Test func theListIsSortedAndMayBeOfOneService() throws {
        let sandbox = try Sandbox.initialised()
        for (service, account) in [("b", "2"), ("a", "1"), ("b", "1")] { try sandbox.add(service, account, "v") }
        #expect(try sandbox.items().map { $0.service + $0.account } == ["a1", "b1", "b2"])
        #expect(try sandbox.items(["-s", "b"]).map(\.account) == ["1", "2"])
        #expect(try sandbox.items(["-s", "c"]).isEmpty)
        #expect(try sandbox.succeed(["vault", "list"]).outputText.split(separator: "\n").count == 4)
    }

    @Test func anUpdateChangesWhatIsGivenAlone() throws {
        let sandbox = try Sandbox.initialised()
        try sandbox.add("db", "ada", "one", ["-l", "first"])
        let update = ["vault", "update", "-s", "db", "-a", "ada"]
        try sandbox.succeed(update + ["-l", "second"], input: Array("not read".utf8))
        #expect(try sandbox.value("db", "ada") == Array("one".utf8))
        try sandbox.succeed(update, input: Array("two".utf8))
        #expect(try sandbox.value("db", "ada") == Array("two".utf8))
        try sandbox.succeed(update + ["-l", "", "--value-file", "-"], input: Array("three".utf8))
        #expect(try sandbox.value("db", "ada") == Array("three".utf8))
        #expect(try sandbox.items().map(\.label) == [""])
    }

    @Test func deletedItemsAreGone() throws {
        let sandbox = try Sandbox.initialised()
        try sandbox.add("db", "ada", "v")
        try sandbox.add("db", "bob", "v")
        try sandbox.succeed(["vault", "delete", "-s", "db", "-a", "ada"])
        #expect(try sandbox.items().map(\.account) == ["bob"])
        try sandbox.add("db", "ada", "again")
    }

    @Test func namesAreComparedByteByByteAndMayContainAnyByte() throws {
        let sandbox = try Sandbox.initialised()
        let names = ["é", "e\u{301}", "-x", "a/b", "new\nline", "%2F"]
        for name in names {
            try sandbox.succeed(["vault", "add", "-s=\(name)", "-a=\(name)"], input: Array(name.utf8))
        }
        #expect(try sandbox.items().count == names.count)
        for name in names {
            #expect(
                try sandbox.succeed(["vault", "find", "-s=\(name)", "-a=\(name)", "-w"]).output == Array(name.utf8))
        }
        // A control character is escaped for the terminal.
        #expect(!(try sandbox.succeed(["vault", "list"]).outputText.contains("new\nline")))
    }

    @Test(arguments: [
        ["add", "-s", "", "-a", "ada"], ["add", "-s", "db"], ["add", "-s", "db", "-a", "ada", "value"],
        ["add", "-s", "db", "-a", "ada", "--accessible", "always"],
        ["add", "-s", "db", "-a", "ada", "--value-file", "x", "--value-fd", "3"],
        ["find", "-a", "ada"], ["update", "-s", "db", "-a", "ada", "-l", "x", "--line"],
    ])
    func wrongUsageIsReported(arguments: [String]) throws {
        let sandbox = try Sandbox.initialised()
        try sandbox.add("db", "bob", "v")
        #expect(try sandbox.sealctl(["vault"] + arguments, input: [1]).exitCode == 64)
        #expect(try sandbox.items().count == 1)
    }
}
