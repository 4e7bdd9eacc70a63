import TestSupport
import Testing

@testable import XcodeEntitlements

@Suite struct CheckRuleTests {
    private static func document() throws -> String { try text("docs/entitlements-check.md") }

    private static func text(_ path: String) throws -> String {
        let root = #filePath.split(separator: "/").dropLast(3).reduce(into: "") { $0 += "/\($1)" }
        return String(decoding: try SystemFile.read("\(root)/\(path)"), as: UTF8.self)
    }

    /// A rule that no list contains would be missing in documents and reports.
    @Test func everyRuleThatIsDeclaredIsListed() throws {
        let source = try Self.text("Sources/Tools/XcodeEntitlements/Checks/ProjectRule.swift")
        let declared = source.split(separator: "\"").filter { $0.hasPrefix("ENT") && $0.count == 6 }
        #expect(declared.count == ProjectRule.all.count)
        for id in declared { #expect(ProjectRule.named(String(id)) != nil, "\(id)") }
    }

    @Test func everyRuleHasAnIdAndANameOfItsOwn() {
        #expect(Set(ProjectRule.all.map(\.id)).count == ProjectRule.all.count)
        #expect(Set(ProjectRule.all.map(\.name)).count == ProjectRule.all.count)
        #expect(ProjectRule.all.map(\.id) == ProjectRule.all.map(\.id).sorted())
    }

    @Test(arguments: ProjectRule.all.map(\.id))
    func aRuleIsFoundByItsIdAndItsName(id: String) throws {
        let rule = try #require(ProjectRule.named(id.lowercased()))
        #expect(rule.id == id && ProjectRule.named(rule.name) == rule)
    }

    @Test func theDocumentHasARowForEachRule() throws {
        let rows = try Self.document().split(separator: "\n").filter { $0.hasPrefix("| `ENT") }
        let expected = ProjectRule.all.map { "| `\($0.id)` | \($0.severity) | \($0.title). \($0.meaning) |" }
        #expect(rows.map { String($0) } == expected)
    }
}
