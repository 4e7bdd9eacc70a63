import TestSupport
import Testing

@Suite struct HelpTests {
    static let commands = [
        "init", "put", "get", "list", "watch", "history", "edit", "delete", "snapshot", "encrypt", "decrypt", "inspect",
        "explain", "audit", "doctor", "repair",
    ]
    static let vaultCommands = [
        "create", "status", "unlock", "lock", "slot", "slot list", "slot add", "slot remove", "slot change", "rekey",
        "certify",
        "identity", "keys", "rotate", "destroy-key", "log", "accept",
    ].map { "vault \($0)" }
    static let itemCommands =
        ["add", "find", "list", "update", "delete", "export", "import"].map { "vault \($0)" } + ["exec"]
    static let defaultsCommands = [
        "read", "read-type", "write", "delete", "rename", "find", "import", "export", "domains",
    ].map { "defaults \($0)" }

    static let containerCommands = [
        "list", "path", "members", "register", "unregister", "reset", "accept", "backend", "usage", "quota",
        "record-limit", "trash",
        "trash list", "trash restore", "trash empty",
    ].map { "container \($0)" }

    static let entitlementsCommands = ["check", "show", "explain"].map { "entitlements \($0)" }

    static let writerCommands = ["new", "list", "retire", "revoke", "adopt"].map { "writer \($0)" }
    static let rosterCommands = ["init", "show", "sign", "verify"].map { "roster \($0)" }

    static let fileCommands = ["put", "get", "list", "delete", "cat"].map { "file \($0)" }

    static let mailboxCommands = ["send", "list", "peek", "take", "ack", "dead", "reset"].map { "mailbox \($0)" }

    static let channelCommands = ["call", "serve"].map { "channel \($0)" }

    static let snapshotCommands = ["snapshot restore"]

    static let importCommands = ["aes-gcm", "defaults", "file", "container"].map { "import \($0)" }

    /// The subcommands of each parent command.
    private static let families: [(parent: String, commands: [String])] = [
        ("vault", vaultCommands + itemCommands), ("defaults", defaultsCommands), ("container", containerCommands),
        ("import", importCommands), ("entitlements", entitlementsCommands), ("writer", writerCommands),
        ("roster", rosterCommands), ("file", fileCommands), ("mailbox", mailboxCommands), ("channel", channelCommands),
        ("snapshot", snapshotCommands),
    ]

    /// Every command that performs work.
    static let all: [String] = commands + families.flatMap(\.commands)

    /// The subcommands that the help of each command lists. The top-level help also lists the parent commands.
    private static let listings: [([String], [String])] =
        [([], commands + families.map(\.parent) + ["exec"])]
        + families.map { ([$0.parent], $0.commands.map(\.leafWord)) }

    /// A new command must be added to one of these lists.
    @Test(arguments: listings)
    func theseAreAllCommands(command: [String], expected: [String]) throws {
        let help = try Sandbox().succeed(command + ["--help"]).outputText
        let lines = help.split(separator: "\n", omittingEmptySubsequences: false)
        let start = try #require(lines.firstIndex { $0.hasPrefix("SUBCOMMANDS") })
        let listed = lines[(start + 1)...].prefix { !$0.isEmpty }.filter { $0.hasPrefix("  ") && !$0.hasPrefix("   ") }
        let names = listed.map { String($0.split(separator: " ")[0]) }
        #expect(Set(names) == Set(expected.filter { !$0.isEmpty }))
    }

    @Test func theVersionIsOneLine() throws {
        let result = try Sandbox().sealctl(["--version"])
        #expect(result.exitCode == 0)
        #expect(result.outputText.hasPrefix("sealctl ") && result.outputText.split(separator: "\n").count == 1)
    }

    @Test(arguments: all)
    func everyCommandHasExamples(command: String) throws {
        let result = try Sandbox().sealctl(command.split(separator: " ").map { String($0) } + ["--help"])
        #expect(result.exitCode == 0)
        #expect(result.errors.isEmpty)
        #expect(result.outputText.contains("Example"))
        #expect(
            result.outputText.contains("  sealctl \(command) ") || result.outputText.contains("  sealctl \(command)\n")
                || result.outputText.contains("| sealctl \(command) "))
    }

    /// The help is wrapped at 80 columns, and a wrapped example cannot be copied.
    @Test(arguments: all)
    func everyExampleIsOnOneLine(command: String) throws {
        let result = try Sandbox().sealctl(command.split(separator: " ").map { String($0) } + ["--help"])
        let lines = result.outputText.split(separator: "\n", omittingEmptySubsequences: false)
        let start = try #require(lines.firstIndex { $0.hasPrefix("Example") })
        #expect(lines[(start + 1)...].prefix { !$0.isEmpty }.allSatisfy { $0.hasPrefix("  ") })
    }

    @Test(arguments: ["--help", "help"])
    func theHelpNamesTheStatuses(argument: String) throws {
        let result = try Sandbox().sealctl([argument])
        #expect(result.exitCode == 0)
        for status in ["1 audit findings", "44 not found", "78 unsafe"] {
            // The text is wrapped, so the words may be separated by a line end.
            #expect(result.outputText.split(whereSeparator: \.isWhitespace).joined(separator: " ").contains(status))
        }
    }

    @Test(arguments: ["bash", "zsh", "fish"])
    func completionsAreMadeForEveryShell(shell: String) throws {
        let result = try Sandbox().sealctl(["--generate-completion-script", shell])
        #expect(result.exitCode == 0)
        for command in Self.commands { #expect(result.outputText.contains(command)) }
        for option in ["accessible", "if-absent", "if-sequence", "purge", "expires-in"] {
            #expect(result.outputText.contains(option))
        }
        #expect(result.outputText.contains("when-unlocked"))
    }
}

extension String {
    /// The command below `vault`; empty for a deeper or missing command.
    fileprivate var leafWord: String {
        let words = split(separator: " ")
        return words.count == 2 ? String(words[1]) : ""
    }
}
