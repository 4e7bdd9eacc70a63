internal import ContainerAudit

/// How much of the container lies open, as a ring.
struct ShareChart {
    private static let radius = 15.9155
    private let view: AuditView

    init(_ view: AuditView) { self.view = view }

    var html: String {
        """
        <section class="card shares" aria-labelledby="by-share">
        <h2 id="by-share">Bytes in plaintext</h2>
        \(view.totalBytes > 0 ? ring : #"<p class="empty">There are no bytes.</p>"#)
        </section>
        """
    }

    private var parts: [(name: String, group: String, bytes: Int64)] {
        let open = view.report.plaintextBytes
        let sealed = view.report.sealedBytes
        return [
            ("plaintext", "open", open), ("sealed", "sealed", sealed),
            ("other", "other", max(0, view.totalBytes - open - sealed)),
        ]
    }

    private var ring: String {
        var start = 0.0
        var arcs = ""
        for part in parts where part.bytes > 0 {
            let share = 100 * Double(part.bytes) / Double(view.totalBytes)
            arcs += """
                <circle class="\(part.group)" cx="21" cy="21" r="\(Self.radius)" pathLength="100" stroke-dasharray=\
                "\(DrawnNumber.text(share)) \(DrawnNumber.text(100 - share))" stroke-dashoffset="\(DrawnNumber.text(25 - start))"/>
                """
            start += share
        }
        let percent = ByteText.percent(view.plaintextShare ?? 0)
        return """
            <div class="ring"><svg viewBox="0 0 42 42" role="img" aria-label="\(percent) of the bytes are plaintext">\
            <circle class="track" cx="21" cy="21" r="\(Self.radius)"/>\(arcs)\
            <text x="21" y="23.4" text-anchor="middle">\(XMLText.escaped(percent))</text></svg>
            <ul class="legend">
            \(legend)
            </ul></div>
            """
    }

    private var legend: String {
        parts.filter { $0.bytes > 0 }.map { part in
            "<li><i class=\"\(part.group)\"></i>\(part.name) <b>\(ByteText.text(part.bytes))</b></li>"
        }.joined(separator: "\n")
    }
}

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
