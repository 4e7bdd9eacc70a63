internal import ContainerAudit
internal import SharedFiles

/// Every file, folded away.
struct FileTable {
    /// A browser is no place for more.
    private static let limit = 5000

    private let view: AuditView

    init(_ view: AuditView) { self.view = view }

    func write(to sink: any ReportSink) {
        let files = view.report.files
        guard !files.isEmpty else { return }
        let counts = view.report.findings.reduce(into: [:]) { $0[$1.path, default: 0] += 1 }
        sink.writeLine(
            """
            <section class="files" aria-labelledby="files">
            <h2 id="files">Files</h2>
            <details><summary>\(FindingText.count(files.count, "file")), \(ByteText.text(view.totalBytes))</summary>
            <div class="scroll"><table>
            <thead><tr><th scope="col">Path</th><th scope="col">Kind</th><th scope="col" class="number">Size</th>\
            <th scope="col">Mode</th><th scope="col">Verdict</th><th scope="col" class="number">Findings</th></tr></thead>
            <tbody>
            """)
        for file in files.prefix(Self.limit) { sink.writeLine(row(file, counts[file.path] ?? 0)) }
        sink.writeLine("</tbody></table></div></details>")
        if files.count > Self.limit {
            sink.writeLine("<p class=\"empty\">\(files.count - Self.limit) more files are in the report as JSON.</p>")
        }
        sink.writeLine("</section>")
    }

    private func row(_ file: AuditedFile, _ findings: Int) -> String {
        let verdict = file.verdict.map { $0.description } ?? ""
        return """
            <tr><td class="path">\(PathText.html(file.path))</td><td><i class="\(KindText.group(file.kind))"></i>\
            \(XMLText.escaped(KindText.text(file.kind)))</td><td class="number">\(ByteText.text(file.size))</td>\
            <td>\(file.mode.map(AuditedFileJSON.octal) ?? "")</td><td>\(XMLText.escaped(verdict.printable))</td>\
            <td class="number">\(findings == 0 ? "" : String(findings))</td></tr>
            """
    }
}
