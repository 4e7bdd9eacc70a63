internal import SharedFiles

/// A check of the audit: a stable id, the default severity, the meaning and the remedy.
///
/// `docs/audit-checks.md` is generated from these values. An id never changes its meaning, and a retired id is not
/// reused.
package struct AuditCheck: Hashable, Sendable {
    /// The stable id, family first: `blob.tampered`.
    package let id: String
    /// The default severity.
    package let severity: Severity
    /// The kind of finding in a few words.
    package let title: String
    /// The meaning, for a reader who sees the id for the first time.
    package let meaning: String
    /// The remedy. `{file}` represents the file's path as a shell word, `{database}` the database that the file is or
    /// belongs to, `{group}` the app group.
    package let remedy: String
    /// The related controls and tests of OWASP MASVS and MASTG.
    package let references: [String]

    package init(
        id: String, severity: Severity, title: String, meaning: String, remedy: String, references: [String] = []
    ) {
        self.id = id
        self.severity = severity
        self.title = title
        self.meaning = meaning
        self.remedy = remedy
        self.references = references
    }

    /// Creates a finding.
    ///
    /// - Parameters:
    ///   - place: The place of the finding.
    ///   - detail: The specific finding; never contents.
    ///   - remedy: A more specific remedy than the check's own, with the same placeholders.
    func finding(
        at place: FindingPlace, _ detail: String, severity: Severity? = nil, confidence: Confidence = .certain,
        remedy: String? = nil
    ) -> Finding {
        Finding(
            id: id, severity: severity ?? self.severity, confidence: confidence, path: place.path.printable,
            title: title, detail: detail.printable, remedy: place.filling(remedy ?? self.remedy).printable,
            references: references)
    }
}

extension AuditCheck {
    /// A family of checks, as shown in the document.
    package struct Family: Sendable {
        /// The heading of the family.
        package let title: String
        /// The checks of the family.
        package let checks: [AuditCheck]
    }

    /// The families of checks.
    package static let families = [
        Family(title: "Sealed blobs", checks: blobs),
        Family(title: "Records", checks: records),
        Family(title: "Plaintext and keys", checks: plaintext),
        Family(title: "Values of files", checks: stores),
        Family(title: "Permissions", checks: permissions),
        Family(title: "Vault and memory of readers", checks: vault),
        Family(title: "Programs of the group", checks: programs),
        Family(title: "Links, special files and leftovers", checks: order),
        Family(title: "Secrets", checks: secrets),
        Family(title: "Limits of the audit", checks: scan),
    ]

    /// The checks of all families.
    package static let all = families.flatMap(\.checks)
}

extension AuditCheck {
    private static let byID = Dictionary(all.map { ($0.id, $0) }, uniquingKeysWith: { first, _ in first })

    /// Returns the check with that id, or `nil` if the id is unknown.
    package static func named(_ id: String) -> AuditCheck? { byID[id] }

    /// Returns the output of `sealctl audit --explain ID`, which describes the check for a reader of its id, or `nil`
    /// if the id is unknown.
    ///
    /// Lines of at most 78 columns, with a newline at the end.
    package static func explanation(of id: String) -> String? {
        guard let check = named(id) else { return nil }
        let remedy = FindingPlace(template: ()).filling(check.remedy)
        var parts = [
            "\(check.id)\n\(check.title)", wrapped("Severity: \(check.severity), as a rule."), wrapped(check.meaning),
            wrapped("Remedy: \(remedy)"),
        ]
        if !check.references.isEmpty {
            parts.append(wrapped("OWASP MASVS and MASTG: \(check.references.joined(separator: ", "))."))
        }
        return parts.joined(separator: "\n\n") + "\n"
    }

    /// Breaks lines between words. A word that is longer than a line stays whole.
    private static func wrapped(_ text: String, columns: Int = 78) -> String {
        var lines = [""]
        for word in text.split(separator: " ", omittingEmptySubsequences: false) {
            let line = lines[lines.count - 1]
            if !line.isEmpty, line.count + 1 + word.count > columns {
                lines.append(String(word))
            } else {
                lines[lines.count - 1] = line.isEmpty ? String(word) : "\(line) \(word)"
            }
        }
        return lines.joined(separator: "\n")
    }
}

// Checks of the parts that the audit's own limits excluded.
extension AuditCheck {
    static let contentPartlyRead = AuditCheck(
        id: "content.partly-read", severity: .low, title: "A file was not read to its end",
        meaning:
            "Part of it is damaged, encrypted by another program, or beyond a limit of the audit. That part was not "
            + "searched. Info if it is of a form that the audit does not read.",
        remedy: "See what it is: file {file}", references: [Reference.storage, Reference.testStorage])

    static let scan = [contentPartlyRead]
}

extension Severity {
    /// The severity as a number from 0 to 10 in the manner of CVSS, for the SARIF property `security-severity` on
    /// GitHub: above 9.0 is critical, from 7.0 high, from 4.0 medium, above 0 low.
    ///
    /// Source: GitHub, "SARIF support for code scanning", property `security-severity`.
    package var securitySeverity: Double {
        switch self {
        case .info: 0
        case .low: 2
        case .medium: 5.5
        case .high: 8
        case .critical: 9.5
        }
    }
}

extension AuditCheck {
    /// The number for its default severity.
    package var securitySeverity: Double { severity.securitySeverity }
}
