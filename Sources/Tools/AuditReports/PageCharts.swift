internal import ContainerAudit

/// The facts of the page's overview in words: the findings of each severity, and the unsealed bytes.
struct PageCounts {
    private let view: AuditView

    init(_ view: AuditView) { self.view = view }

    /// The counts as `3 critical`, `1 low`, the most severe first; severities without findings are omitted.
    var severities: String {
        let counts = Severity.descending.map { ($0, view.report.counts[$0] ?? 0) }.filter { $0.1 > 0 }
        guard !counts.isEmpty else { return "" }
        let pills = counts.map { "<span class=\"pill \($0)\">\($1) \($0)</span>" }.joined(separator: " ")
        return "\n<p class=\"severities\">\(pills)</p>"
    }

    /// The legend of the container's areas, with the bytes of each colour.
    var legend: String {
        let open = view.report.plaintextBytes
        let sealed = view.report.sealedBytes
        let parts = [
            ("plaintext", "open", open), ("sealed", "sealed", sealed),
            ("other", "other", max(0, view.totalBytes - open - sealed)),
        ]
        let items = parts.filter { $0.2 > 0 }.map { name, group, bytes in
            let share = ByteText.percent(Double(bytes) / Double(view.totalBytes))
            let size = "<b>\(ByteText.text(bytes))</b> (\(XMLText.escaped(share)))"
            return "<li><i class=\"\(group)\"></i>\(name) \(size)</li>"
        }
        return "<ul class=\"legend\">\(items.joined())<li><i class=\"mark\"></i>with findings</li></ul>"
    }
}

/// Numbers in drawings: one digit behind the point is enough.
enum DrawnNumber {
    static func text(_ value: Double) -> String {
        let tenths = Int((value * 10).rounded())
        let sign = tenths < 0 ? "-" : ""
        let rest = abs(tenths) % 10
        return "\(sign)\(abs(tenths) / 10)" + (rest == 0 ? "" : ".\(rest)")
    }
}
