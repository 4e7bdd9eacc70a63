internal import ContainerAudit

/// The colours of severities on a terminal; without colours the words alone.
struct AuditPalette {
    let isOn: Bool

    func text(_ severity: Severity, _ text: String) -> String {
        switch severity {
        case .critical: paint(text, "1;35")
        case .high: paint(text, "1;31")
        case .medium: paint(text, "33")
        case .low: paint(text, "36")
        case .info: paint(text, "2")
        }
    }

    func strong(_ text: String) -> String { paint(text, "1") }
    func weak(_ text: String) -> String { paint(text, "2") }
    func good(_ text: String) -> String { paint(text, "1;32") }
    func bad(_ text: String) -> String { paint(text, "1;31") }

    private func paint(_ text: String, _ code: String) -> String {
        isOn ? "\u{1B}[\(code)m\(text)\u{1B}[0m" : text
    }
}
