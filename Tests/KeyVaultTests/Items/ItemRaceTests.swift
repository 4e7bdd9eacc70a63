import AppGroups
import KeyVault
import TestSupport
import Testing

/// Tests of several programs that change one vault's items at once.
@Suite struct ItemRaceTests {
    /// Starts a probe for each item command, releases all of them together, and returns the result of each.
    private func race(_ commands: [[String]], on fixture: VaultFixture) throws -> [String] {
        let children = try commands.map { command in
            try ChildProcess(
                "sealed-probe", ["vault-item", fixture.directory.path, fixture.group.identifier] + command)
        }
        for child in children { #expect(try child.readLine() == "ready") }
        for child in children { try child.write("go\n") }
        return try children.map { child in
            let answer = try child.readLine() ?? ""
            _ = try child.finish()
            return answer
        }
    }

    @Test func ofSixteenProcessesThatAddOneItemOneWins() throws {
        // process 1..16: open ......... lock, read again, add or find it
        // Each of them is released by one line, after all have reported that they are ready.
        let fixture = try VaultFixture()
        try fixture.create()
        let answers = try race((1...16).map { ["add", "s", "a", "\($0)"] }, on: fixture)
        #expect(answers.filter { $0 == "done" }.count == 1)
        #expect(answers.filter { $0 == VaultError.Code.duplicateItem.rawValue }.count == 15)
        let winner = try #require(answers.firstIndex(of: "done"))
        #expect(try fixture.open().items().map(\.size) == [winner + 1])
        #expect(try fixture.open().value("s", "a").count == winner + 1)
    }

    @Test func sixteenProcessesThatAddDifferentItemsLoseNone() throws {
        let fixture = try VaultFixture()
        try fixture.create()
        let answers = try race((1...16).map { ["add", "s", "a\($0)", "\($0)"] }, on: fixture)
        #expect(answers == [String](repeating: "done", count: 16))
        let items = try fixture.open().items()
        #expect(Set(items.map(\.account)) == Set((1...16).map { "a\($0)" }))
        #expect(items.allSatisfy { $0.account == "a\($0.size)" })
    }

    @Test func ofSixteenProcessesThatDeleteOneItemOneWins() throws {
        let fixture = try VaultFixture()
        try fixture.create().add("s", "a")
        let answers = try race([[String]](repeating: ["delete", "s", "a"], count: 16), on: fixture)
        #expect(answers.filter { $0 == "done" }.count == 1)
        #expect(answers.filter { $0 == VaultError.Code.itemNotFound.rawValue }.count == 15)
        #expect(try fixture.open().items().isEmpty)
    }

    @Test func aReaderNeverSeesHalfAnUpdate() throws {
        // writers 1..8: update (each another size)    readers 1..8: read
        let fixture = try VaultFixture()
        try fixture.create().add("s", "a", [UInt8](repeating: UInt8(ascii: "v"), count: 5))
        let sizes = Set((1...8).map { $0 * 700 } + [5])
        let commands = (1...8).flatMap { [["update", "s", "a", "\($0 * 700)"], ["read", "s", "a"]] }
        let answers = try race(commands, on: fixture)
        for answer in answers where answer != "done" { #expect(Int(answer).map(sizes.contains) == true, "\(answer)") }
        #expect(answers.filter { $0 == "done" }.count == 8)
    }
}
