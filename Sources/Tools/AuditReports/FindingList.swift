internal import ContainerAudit
internal import SharedFiles

/// The findings by check, the most severe first: the meaning once, then each place.
struct FindingList {
    /// The number of places of a check that are shown unfolded.
    private static let unfolded = 20

    private let view: AuditView

    init(_ view: AuditView) { self.view = view }

    func write(to sink: any ReportSink) {
        let findings = view.findings
        sink.writeLine("<section class=\"findings\" aria-labelledby=\"findings\">\n<h2 id=\"findings\">Findings</h2>")
        if findings.isEmpty {
            sink.writeLine("<p class=\"empty\">\(view.hidden == 0 ? "None." : "None listed.")</p>")
        } else {
            sink.writeLine(filter)
        }
        for group in CheckGroup.all(in: findings) { write(group, to: sink) }
        sink.writeLine("</section>")
    }

    /// The filter, which the script shows, because the script does the filtering.
    private var filter: String {
        let boxes = Severity.descending.filter { (view.report.counts[$0] ?? 0) > 0 && $0 >= view.least }.map {
            "<label class=\"\($0)\"><input type=\"checkbox\" value=\"\($0)\" checked> \($0)</label>"
        }
        return """
            <form class="filter" id="filter" hidden>
            <input type="search" id="search" placeholder="Search paths, checks, places" aria-label="Search findings" \
            autocomplete="off" spellcheck="false">
            <fieldset><legend>Severity</legend>\(boxes.joined())</fieldset>
            <output id="shown" role="status"></output>
            </form>
            """
    }

    private func write(_ group: CheckGroup, to sink: any ReportSink) {
        sink.writeLine(
            """
            <article class="check \(group.worst)">
            <h3><span class="pill \(group.worst)">\(group.worst)</span>\(XMLText.escaped(group.title.printable))\
            <span class="count">\(group.findings.count)</span></h3>
            <p class="about"><code>\(XMLText.escaped(group.id.printable))</code>\(references(group))</p>
            """)
        if let meaning = AuditCheck.named(group.id)?.meaning {
            sink.writeLine("<p class=\"meaning\">\(XMLText.escaped(meaning))</p>")
        }
        let blocks = group.blocks
        sink.writeLine("<ul class=\"places\">")
        for block in blocks.prefix(Self.unfolded) { sink.writeLine(item(block, in: group)) }
        sink.writeLine("</ul>")
        let more = blocks.dropFirst(Self.unfolded)
        if !more.isEmpty {
            let count = more.reduce(0) { $0 + $1.findings.count }
            sink.writeLine("<details class=\"more\"><summary>\(count) more</summary>\n<ul class=\"places\">")
            for block in more { sink.writeLine(item(block, in: group)) }
            sink.writeLine("</ul></details>")
        }
        sink.writeLine("</article>")
    }

    private func references(_ group: CheckGroup) -> String {
        group.references.map { reference in
            let text = XMLText.escaped(reference.printable)
            guard let uri = MASReference.uri(reference) else { return "<span class=\"tag\">\(text)</span>" }
            return "<a class=\"tag\" href=\"\(uri)\" rel=\"noreferrer\">\(text)</a>"
        }.joined()
    }

    private func item(_ block: FindingBlock, in group: CheckGroup) -> String {
        let finding = block.first
        let severity = finding.severity
        let pill = severity == group.worst ? "" : "<span class=\"pill \(severity)\">\(severity)</span>"
        return """
            <li class="\(severity)" data-s="\(severity)" data-n="\(block.findings.count)">
            <p class="where">\(pill)<b>\(PathText.html(finding.path))</b></p>
            <p>\(XMLText.escaped(finding.detail.printable))</p>
            \(spots(block))<p class="remedy">\(remedy(finding))</p>
            </li>
            """
    }

    /// Returns the place in the file and the fingerprint of each finding.
    private func spots(_ block: FindingBlock) -> String {
        let spots = block.findings.compactMap { finding -> String? in
            let place = FindingText.place(finding)
            let parts = [
                place.isEmpty ? nil : "<span>\(XMLText.escaped(place))</span>",
                finding.confidence == .certain ? nil : "<em>\(finding.confidence)</em>",
                finding.fingerprint.map { "<code>\(XMLText.escaped($0.printable))</code>" },
            ].compactMap { $0 }
            return parts.isEmpty ? nil : "<p class=\"spot\">\(parts.joined(separator: " "))</p>"
        }
        return spots.isEmpty ? "" : spots.joined(separator: "\n") + "\n"
    }
}

extension FindingList {
    private func remedy(_ finding: Finding) -> String {
        let remedy = RemedyText(finding.remedy)
        let command = remedy.command.map { "<code>\(XMLText.escaped($0))</code>" } ?? ""
        return XMLText.escaped(remedy.sentence) + command
    }
}

/// The findings of one check.
private struct CheckGroup {
    let id: String
    /// The findings, the most severe first.
    let findings: [Finding]

    var worst: Severity { findings.first?.severity ?? .info }
    var title: String { findings.first?.title ?? id }
    var references: [String] { findings.first?.references ?? [] }

    /// The blocks of findings that differ only in their places. Places in one file are neighbours.
    var blocks: [FindingBlock] { FindingGroup.all(in: findings).flatMap(\.blocks) }

    /// Returns the groups by their most severe finding, then by the number of findings.
    static func all(in findings: [Finding]) -> [CheckGroup] {
        Dictionary(grouping: findings, by: \.id).map { CheckGroup(id: $0.key, findings: $0.value) }
            .sorted { a, b in
                if a.worst != b.worst { return a.worst > b.worst }
                return (b.findings.count, a.id) < (a.findings.count, b.id)
            }
    }
}

/// A table of every file, folded away.
struct FileTable {
    /// The largest number of rows, because browsers handle larger tables badly.
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
