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
