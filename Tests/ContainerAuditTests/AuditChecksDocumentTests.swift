import ContainerAudit
import Glibc
import TestSupport
import Testing

@Suite struct AuditChecksDocumentTests {
    /// The document's path, relative to this file.
    private static let path = root + "/docs/audit-checks.md"

    private static let root =
        #filePath.split(separator: "/", omittingEmptySubsequences: false).dropLast(3).joined(separator: "/")

    @Test func theDocumentIsWhatTheChecksSay() throws {
        let made = AuditChecksDocument.markdown
        if getenv("SEALED_REGENERATE") != nil { try SystemFile.write(Self.path, Array(made.utf8), mode: 0o644) }
        let found = String(decoding: try SystemFile.read(Self.path), as: UTF8.self)
        #expect(
            found == made,
            "docs/audit-checks.md is behind: SEALED_REGENERATE=1 swift test --filter AuditChecksDocumentTests")
    }

    @Test func everyIdIsUnique() {
        #expect(Set(AuditCheck.all.map(\.id)).count == AuditCheck.all.count)
    }

    /// A check that no family lists would be in no document and no report's list of rules.
    @Test func everyCheckThatIsDeclaredIsInAFamily() throws {
        let folder = Self.root + "/Sources/Tools/ContainerAudit/Checks"
        let files = try SystemFile.names(folder).filter { $0.hasPrefix("AuditCheck") && $0.hasSuffix(".swift") }
        let sources = try files.map { String(decoding: try SystemFile.read("\(folder)/\($0)"), as: UTF8.self) }
        let declared = sources.flatMap { source in
            source.split(separator: "AuditCheck(").compactMap { part -> Substring? in
                part.drop { $0.isWhitespace }.hasPrefix("id: \"") ? part.split(separator: "\"")[1] : nil
            }
        }
        #expect(declared.count > 80)
        for id in declared { #expect(AuditCheck.named(String(id)) != nil, "\(id)") }
    }

    @Test func aFindingHasTheSeverityAndTitleOfItsCheck() throws {
        let sandbox = try AuditSandbox()
        try sandbox.filled()
        try sandbox.change(sandbox.path(ofRecord: "state")) { $0[180] ^= 1 }
        let finding = try #require(try sandbox.audit().findings.first)
        let check = try #require(AuditCheck.all.first { $0.id == finding.id })
        #expect(finding.severity == check.severity && finding.title == check.title)
    }
}
