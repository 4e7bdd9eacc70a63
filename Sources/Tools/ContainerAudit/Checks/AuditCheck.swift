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
