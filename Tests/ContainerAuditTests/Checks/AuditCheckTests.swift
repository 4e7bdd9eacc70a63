import ContainerAudit
import SecretDetection
import Testing

@Suite struct AuditCheckTests {
    @Test func everyRuleOfTheSearchIsACheckUnderItsOwnID() {
        for rule in SecretRules.all {
            let check = AuditCheck.named(rule.id)
            #expect(check?.title == rule.title && check?.remedy == rule.remedy, "\(rule.id)")
        }
    }

    @Test func everyCheckNamesTheControlsThatItAnswers() {
        for check in AuditCheck.all {
            #expect(!check.references.isEmpty, "\(check.id)")
            #expect(check.references.contains { $0.hasPrefix("MASVS-") }, "\(check.id)")
            #expect(Set(check.references).count == check.references.count, "\(check.id)")
        }
    }

    @Test(
        arguments: [
            (Severity.info, 0.0...0.0), (.low, 0.1...3.9), (.medium, 4.0...6.9), (.high, 7.0...8.9),
            (.critical, 9.0...10.0),
        ])
    func aSeverityIsANumberAsGitHubReadsIt(severity: Severity, range: ClosedRange<Double>) {
        #expect(range.contains(severity.securitySeverity))
    }

    @Test func everyExplanationFitsATerminalAndSaysWhatToDo() throws {
        for check in AuditCheck.all {
            let text = try #require(AuditCheck.explanation(of: check.id))
            #expect(text.hasPrefix("\(check.id)\n\(check.title)\n"))
            #expect(text.contains("Remedy:"))
            #expect(!text.contains("{file}") && !text.contains("{group}"))
            #expect(text.split(separator: "\n").allSatisfy { $0.count <= 78 || !$0.contains(" ") }, "\(check.id)")
        }
    }

    @Test func anUnknownIDHasNoExplanation() { #expect(AuditCheck.explanation(of: "no.such-check") == nil) }
}
