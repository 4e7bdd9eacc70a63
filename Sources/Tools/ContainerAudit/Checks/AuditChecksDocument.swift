/// `docs/audit-checks.md`, made from the checks themselves.
package enum AuditChecksDocument {
    /// The document in Markdown.
    package static var markdown: String {
        ([introduction] + AuditCheck.families.map(section) + [AuditReportDocument.markdown]).joined(separator: "\n")
    }

    private static let introduction = """
        # What the audit finds

        This file is made from `Sources/Tools/ContainerAudit/Checks`: do not edit it. After a change of a check, write it anew with

            SEALED_REGENERATE=1 swift test --filter AuditChecksDocumentTests

        An id never changes its meaning. The severity is the usual one; where a finding may have another, the meaning says so.
        `FILE` stands for the file that a finding names, `GROUP` for the app group. A container is clean when it has no
        finding above `info`. The last column names the controls of OWASP MASVS 2 and the tests of OWASP MASTG that a check
        answers. `sealctl audit --explain ID` prints one of these.

        A secret weighs one step less than its row says where it only has a secret's name, where it has expired, and where
        it was deleted and its bytes were not overwritten; each of these is said.

        """

    private static func section(_ family: AuditCheck.Family) -> String {
        let rows = family.checks.map { check in
            let remedy = FindingPlace(template: ()).filling(check.remedy)
            let references = check.references.joined(separator: ", ")
            let meaning = "\(check.title). \(check.meaning)"
            return "| `\(check.id)` | \(check.severity) | \(meaning) | \(remedy) | \(references) |"
        }
        let head = [
            "## \(family.title)", "", "| id | severity | meaning | remedy | answers |",
            "| --- | --- | --- | --- | --- |",
        ]
        return (head + rows + [""]).joined(separator: "\n")
    }
}
