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
