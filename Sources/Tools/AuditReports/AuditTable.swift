internal import ContainerAudit
internal import SharedFiles

/// The report for people: the files and the number of findings by kind, then each file with its findings.
struct AuditTable {
    private static let indent = 12

    private let view: AuditView
    private let palette: AuditPalette
    private var report: AuditReport { view.report }

    init(_ view: AuditView) {
        self.view = view
        palette = AuditPalette(isOn: view.usesColor)
    }

    func write(to sink: any ReportSink) {
        let parts = [head, severities, kinds] + (view.listsFiles ? [files] : [])
        for part in parts where !part.isEmpty { sink.writeLine(part + "\n") }
        for group in FindingGroup.all(in: view.findings) { write(group, to: sink) }
        let notes = notes
        for note in notes { sink.writeLine(note) }
        if !notes.isEmpty { sink.writeLine("") }
        sink.writeLine(conclusion)
    }

    private var head: String {
        let keys = report.withKeys ? "with keys" : "without keys"
        let facts = [
            report.group.map { $0.printable }, keys, FindingText.count(report.files.count, "file"),
            ByteText.text(view.totalBytes), Timestamp(report.auditedAt).short,
        ]
        return palette.strong(report.containerPath.printable) + "\n"
            + facts.compactMap { $0 }.joined(separator: " · ")
    }

    // MARK: - The grid

    private var severities: String {
        let counts = Severity.descending.map { ($0, report.counts[$0] ?? 0) }
        let titles = counts.map { severity, _ in Self.right(severity.rawValue.uppercased(), 9) }
        let numbers = counts.map { severity, count in
            let text = Self.right(String(count), 9)
            return count > 0 ? palette.text(severity, text) : palette.weak(text)
        }
        return titles.joined() + "\n" + numbers.joined()
    }

    private static func right(_ text: String, _ width: Int) -> String {
        String(repeating: " ", count: max(0, width - text.count)) + text
    }

    private var kinds: String {
        guard !report.files.isEmpty else { return "no files" }
        var table = TextTable([
            .init(title: "KIND"), .init(title: "FILES", isNumber: true), .init(title: "SIZE", isNumber: true),
            .init(title: "SHARE", isNumber: true), .init(title: "FINDINGS", isNumber: true), .init(title: "VERDICTS"),
        ])
        let summaries = KindSummary.all(of: view)
        for summary in summaries { table.add(summary.cells(of: view.totalBytes)) }
        return table.text + shares
    }

    private var shares: String {
        guard let plaintext = view.plaintextShare, let sealed = view.sealedShare else { return "" }
        return "\n\nplaintext \(ByteText.percent(plaintext)) of the bytes, sealed \(ByteText.percent(sealed))"
    }

    // MARK: - Files

    private var files: String {
        var table = TextTable([
            .init(title: "KIND"), .init(title: "SIZE", isNumber: true), .init(title: "MODE"), .init(title: "VERDICT"),
            .init(title: "PATH"),
        ])
        for file in report.files {
            table.add([
                file.kind.description, String(file.size), file.mode.map(AuditedFileJSON.octal) ?? "-",
                file.verdict?.description ?? "-", file.path,
            ])
        }
        return table.text
    }

    private func write(_ group: FindingGroup, to sink: any ReportSink) {
        sink.writeLine(palette.strong(group.path.printable))
        for block in group.blocks { write(block, to: sink) }
        sink.writeLine("")
    }

    /// Writes a block of findings that differ only in their places, with the places aligned below each other.
    private func write(_ block: FindingBlock, to sink: any ReportSink) {
        let name = block.first.severity.rawValue
        let space = String(repeating: " ", count: Self.indent - 2 - name.count)
        let times = block.findings.count == 1 ? "" : "  \(block.findings.count) times"
        sink.writeLine(
            "  \(palette.text(block.first.severity, name))\(space)\(palette.strong(block.first.id.printable))\(times)")
        write(block.first.detail.printable, to: sink)
        let remedy = RemedyText(block.first.remedy)
        write(remedy.sentence, to: sink)
        if let command = remedy.command { sink.writeLine(Self.margin + "  " + command) }
        for finding in block.findings {
            for mark in [FindingText.place(finding), Self.marks(finding)] where !mark.isEmpty {
                sink.writeLine(palette.weak(Self.margin + mark))
            }
        }
    }

    private static let margin = String(repeating: " ", count: indent)

    private func write(_ text: String, to sink: any ReportSink) {
        for line in WrappedText.lines(text, indent: Self.indent) { sink.writeLine(line) }
    }

    private static func marks(_ finding: Finding) -> String {
        let confidence = finding.confidence == .certain ? nil : finding.confidence.rawValue
        return [confidence, finding.fingerprint?.printable].compactMap { $0 }.joined(separator: " · ")
    }

    // MARK: - The end

    private var notes: [String] {
        // If nothing was found, the first note is shown in the last line.
        let notes = isUnopened ? view.notes.dropFirst() : view.notes[...]
        return notes.map { "note: \($0.printable)" } + omissions
    }

    private var omissions: [String] {
        let omitted = report.omissions
        return [
            (omitted.ignored, "ignored by fingerprint"), (omitted.inBaseline, "in the baseline"),
            (omitted.allowedInline, "allowed in the file"), (view.hidden, "below --severity \(view.least)"),
        ].filter { $0.0 > 0 }.map { "note: \(FindingText.count($0.0, "finding")) \($0.1)" }
    }

    /// True if sealed blobs were not opened. They do not count as clean.
    private var isUnopened: Bool { !report.withKeys && view.total == 0 }

    private var conclusion: String {
        if isUnopened {
            return "nothing found; sealed blobs were not opened: \(FindingText.reasonForNoKeys(report).printable)"
        }
        guard view.total > 0 else { return palette.good("no findings") }
        let count = FindingText.count(view.total, "finding")
        guard view.failing > 0 else { return palette.good("\(count), none at or above \(view.threshold)") }
        return palette.bad("\(count), \(view.failing) at or above \(view.threshold)")
    }
}

/// The colours of severities on a terminal, or plain words.
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
