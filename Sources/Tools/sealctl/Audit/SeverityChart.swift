internal import ContainerAudit

/// How many findings there are of each severity, as bars.
struct SeverityChart {
    private let view: AuditView

    init(_ view: AuditView) { self.view = view }

    var html: String {
        let most = max(1, view.report.counts.values.max() ?? 1)
        let rows = Severity.descending.map { row($0, view.report.counts[$0] ?? 0, most) }.joined(separator: "\n")
        return """
            <section class="card severities" aria-labelledby="by-severity">
            <h2 id="by-severity">Findings by severity</h2>
            <dl>
            \(rows)
            </dl>
            </section>
            """
    }

    private func row(_ severity: Severity, _ count: Int, _ most: Int) -> String {
        // A single one among thousands is still seen.
        let width = count == 0 ? 0 : max(1.5, 100 * Double(count) / Double(most))
        return """
            <div class="row \(severity)\(count == 0 ? " none" : "")"><dt>\(severity)</dt><dd><svg viewBox="0 0 100 8" \
            preserveAspectRatio="none" aria-hidden="true"><rect class="track" width="100" height="8"/><rect class="value" \
            width="\(DrawnNumber.text(width))" height="8"/></svg><b>\(count)</b></dd></div>
            """
    }
}

/// Numbers in drawings: a digit behind the point is more than enough.
enum DrawnNumber {
    static func text(_ value: Double) -> String {
        let tenths = Int((value * 10).rounded())
        let sign = tenths < 0 ? "-" : ""
        let rest = abs(tenths) % 10
        return "\(sign)\(abs(tenths) / 10)" + (rest == 0 ? "" : ".\(rest)")
    }
}
