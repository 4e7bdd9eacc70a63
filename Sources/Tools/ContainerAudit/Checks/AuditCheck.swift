internal import SharedFiles

/// One thing that the audit can find: a stable id, how much it matters as a rule, and what to say and to do about it.
///
/// `docs/audit-checks.md` is made from these values. An id never changes its meaning; one that is retired is not reused.
package struct AuditCheck: Hashable, Sendable {
    /// The stable id, family first: `blob.tampered`.
    package let id: String
    /// How much it matters unless a finding says otherwise.
    package let severity: Severity
    /// What was found, in a few words.
    package let title: String
    /// What it means, for somebody who reads the id for the first time.
    package let meaning: String
    /// What to do. `{file}` stands for the file's path as a shell word, `{database}` for the database that the file is or
    /// belongs to, `{group}` for the app group.
    package let remedy: String
    /// The controls and tests of OWASP MASVS and MASTG that it answers.
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

    /// Makes a finding.
    ///
    /// - Parameters:
    ///   - place: Where it was found.
    ///   - detail: What was found there; never contents.
    ///   - remedy: A remedy that fits better than the check's own, with the same placeholders.
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
    /// A family of checks, as the document shows it.
    package struct Family: Sendable {
        /// Its heading.
        package let title: String
        /// Its checks.
        package let checks: [AuditCheck]
    }

    /// Every family.
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

    /// Every check.
    package static let all = families.flatMap(\.checks)
}

extension AuditCheck {
    private static let byID = Dictionary(all.map { ($0.id, $0) }, uniquingKeysWith: { first, _ in first })

    /// The check with that id; nil where there is none.
    package static func named(_ id: String) -> AuditCheck? { byID[id] }

    /// What `sealctl audit --explain ID` prints: the check for somebody who has met its id; nil where there is none.
    ///
    /// Lines of at most 78 columns, with a newline at the end.
    package static func explanation(of id: String) -> String? {
        guard let check = named(id) else { return nil }
        let remedy = FindingPlace(template: ()).filling(check.remedy)
        var parts = [
            "\(check.id)\n\(check.title)", wrapped("Severity: \(check.severity), as a rule."), wrapped(check.meaning),
            wrapped("What to do: \(remedy)"),
        ]
        if !check.references.isEmpty {
            parts.append(wrapped("OWASP MASVS and MASTG: \(check.references.joined(separator: ", "))."))
        }
        return parts.joined(separator: "\n\n") + "\n"
    }

    /// Breaks between words; a word that is longer than a line stays whole.
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

// What the audit's own limits kept from it.
extension AuditCheck {
    static let contentPartlyRead = AuditCheck(
        id: "content.partly-read", severity: .low, title: "A file was not read to its end",
        meaning:
            "Part of it is damaged, encrypted by something else, or beyond a limit of the audit: what lies there was not "
            + "searched. Information only where it is of a form that the audit does not read.",
        remedy: "See what it is: file {file}", references: [Reference.storage, Reference.testStorage])

    static let scan = [contentPartlyRead]
}

extension Severity {
    /// A number from 0 to 10 in the manner of CVSS, as GitHub reads the SARIF property `security-severity`: above 9.0 is
    /// critical, from 7.0 high, from 4.0 medium, above 0 low.
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
    /// That number for its usual severity.
    package var securitySeverity: Double { severity.securitySeverity }
}
