import ContainerAudit
import TestSupport
import Testing

@Suite struct AuditIgnoreListTests {
    let sandbox: ScanSandbox
    init() throws {
        sandbox = try ScanSandbox()
        try sandbox.put("notes.txt", "key: \(ScanSandbox.secret(1))\nkey: \(ScanSandbox.secret(2))\n")
    }

    private static let example = "v1:token.aws:" + String(repeating: "0a", count: 16)

    @Test func aFileReadsBackAsItWasWritten() throws {
        var list = AuditIgnoreList()
        list.entries = [
            .init(fingerprint: Self.example),
            .init(fingerprint: Self.example, reason: "of a test", keyID: "0123456789abcdef"),
        ]
        #expect(try AuditIgnoreList(parsing: list.text) == list)
    }

    @Test func commentsAndEmptyLinesSayNothing() throws {
        let list = try AuditIgnoreList(parsing: "# a\n\n  # b\n\(Self.example)   two words  \r\n")
        #expect(list.entries == [.init(fingerprint: Self.example, reason: "two words")])
    }

    @Test(arguments: [
        "v1:token.aws:00", "v2:token.aws:00000000000000000000000000000000", "token.aws", "key: 12", "key:",
    ])
    func aLineThatIsNotAnEntryIsRefused(line: String) {
        #expect { try AuditIgnoreList(parsing: "# x\n\(line)\n") } throws: {
            ($0 as? AuditError)?.code == .malformedIgnoreList
        }
    }

    @Test func ignoredFindingsAreCountedButNotReported() throws {
        let first = try #require(try sandbox.secrets().first)
        var list = AuditIgnoreList()
        list.add([first], reason: "known", key: try #require(ScanSandbox.key))
        let report = try sandbox.audit { $0.ignoring = list }
        #expect(!report.findings.contains(first) && report.findings.count == 2)
        #expect(report.omissions.ignored == 1 && report.notes.isEmpty == false)
        #expect(!report.notes.contains { $0.contains("matched no finding") })
    }

    @Test func findingsWithoutAValueCanBeIgnoredToo() throws {
        let plain = try #require(try sandbox.audit().findings.first { $0.id == "plaintext.file" })
        var list = AuditIgnoreList()
        list.add([plain], reason: "", key: try #require(ScanSandbox.key))
        #expect(try sandbox.audit { $0.ignoring = list }.findings.allSatisfy { $0.id == ScanSandbox.check })
    }

    @Test func anEntryThatMatchesNothingIsNoted() throws {
        let list = try AuditIgnoreList(parsing: "key: \(try #require(ScanSandbox.key).id)\n\(Self.example)")
        #expect(try sandbox.audit { $0.ignoring = list }.notes.contains { $0.contains(Self.example) })
    }

    @Test func entriesOfAnotherKeyAreNotedAndIgnoreNothing() throws {
        let found = try sandbox.secrets()
        var list = AuditIgnoreList()
        list.add(found, reason: "", key: try #require(ScanSandbox.otherKey))
        let report = try sandbox.audit { $0.ignoring = list }
        #expect(report.omissions.ignored == 0 && report.findings.contains(found[0]))
        #expect(report.notes.contains { $0.contains("another fingerprint key") })
    }

    @Test func ignoredFindingsDoNotCountTowardsTheLimits() throws {
        let first = try #require(try sandbox.secrets().first)
        var list = AuditIgnoreList()
        list.add([first], reason: "", key: try #require(ScanSandbox.key))
        let findings = try sandbox.secrets {
            $0.ignoring = list
            $0.limits.maximumFindingsPerCheck = 1
        }
        #expect(findings.count == 1 && findings.first != first)
    }
}
