import FoundationEssentials
import TestSupport
import Testing

@Suite struct HelpTopicTests {
    static let topics = [
        "getting-started", "groups", "keys", "configuration", "environment", "exit-status", "formats", "auditing",
    ]

    @Test func theseAreAllTopics() throws {
        let lines = try Sandbox().succeed(["help", "topics"]).outputText.split(separator: "\n")
        #expect(lines.compactMap { $0.split(separator: " ").first.map { String($0) } } == Self.topics)
    }

    @Test(arguments: topics)
    func aTopicFitsATerminal(topic: String) throws {
        let result = try Sandbox().sealctl(["help", topic])
        #expect(result.exitCode == 0 && result.errors.isEmpty)
        let lines = result.outputText.split(separator: "\n", omittingEmptySubsequences: false)
        #expect(lines.count > 5)
        for line in lines { #expect(line.count <= 80, "\(line)") }
        #expect(try SourceText.read("docs/sealctl.md").contains("`\(topic)`"))
    }

    /// Commands take precedence over topics, so a topic must not hide a command's help.
    @Test func noTopicIsACommand() throws {
        #expect(Set(Self.topics).isDisjoint(with: HelpTests.commands))
    }

    @Test func theStatusesAreThoseOfTheGuide() throws {
        let topic = try Sandbox().succeed(["help", "exit-status"]).outputText
        let reported = topic.split(separator: "\n").prefix { !$0.isEmpty && $0.first == " " }
            .compactMap { $0.split(separator: " ").first.flatMap { Int($0) } }
        let guide = try SourceText.read("docs/sealctl.md").split(separator: "\n")
        let rows = guide.compactMap { Int($0.split(separator: "|").first?.filter { $0 != " " } ?? "") }
        #expect(reported.count > 10 && reported == rows)
    }

    /// The names of settings in the source must appear in all documents and help texts about them.
    @Test(arguments: ["docs/configuration.md", "docs/sealctl.conf.5"])
    func everySettingIsInTheDocument(path: String) throws {
        let document = try SourceText.read(path)
        let settings = try Sandbox().succeed(["help", "configuration"]).outputText
        let keys = settings.split(separator: "\n").filter { $0.hasPrefix("\"") }
            .compactMap { $0.split(separator: "\"").first.map { String($0) } }
        let variables = try Sandbox().succeed(["help", "environment"]).outputText
            .split(separator: " ").map { String($0) }.filter { $0.hasPrefix("SEALCTL_") || $0.contains("\nSEALCTL_") }
            .compactMap { $0.split(separator: "\n").last.map { String($0) } }
        #expect(keys.count == 11 && variables.count > 8)
        for name in keys + variables { #expect(document.contains(name), "\(path) has no \(name)") }
    }

    @Test func everyVariableIsInTheGuideAndInTheManual() throws {
        let guide = try SourceText.read("docs/sealctl.md")
        let page = try SourceText.read("docs/sealctl.1")
        let topic = try Sandbox().succeed(["help", "environment"]).outputText
        let names = topic.split(whereSeparator: { " ,\n.=".contains($0) })
            .filter { $0.hasPrefix("SEAL") && $0.contains("_") }
        #expect(names.count > 10)
        for name in names { #expect(guide.contains(name) && page.contains(name), "\(name)") }
    }
}
