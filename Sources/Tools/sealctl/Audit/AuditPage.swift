internal import ContainerAudit
internal import SharedFiles

/// The report as one page that needs nothing but itself: no network, no other file.
///
/// Everything that comes from a container is escaped, and the page's own policy forbids every script and style but these
/// two, so that a file name that got through could not do anything.
struct AuditPage {
    private let view: AuditView

    init(_ view: AuditView) { self.view = view }

    func write(to sink: any ReportSink) {
        sink.writeLine(head)
        sink.writeLine(PageHeader(view).html)
        sink.writeLine("<main>")
        sink.writeLine(overview)
        FindingList(view).write(to: sink)
        FileTable(view).write(to: sink)
        sink.writeLine(notes)
        sink.writeLine("</main>")
        sink.writeLine(footer)
        sink.writeLine("<script>\(PageScript.text)</script>\n</body>\n</html>")
    }

    private var head: String {
        let policy = "default-src 'none'; style-src '\(PageStyle.hash)'; script-src '\(PageScript.hash)'; "
        return """
            <!doctype html>
            <html lang="en">
            <head>
            <meta charset="utf-8">
            <meta http-equiv="Content-Security-Policy" content="\(policy)base-uri 'none'; form-action 'none'">
            <meta name="viewport" content="width=device-width, initial-scale=1">
            <meta name="referrer" content="no-referrer">
            <meta name="color-scheme" content="light dark">
            <title>Audit of \(XMLText.escaped(PageHeader(view).name.printable))</title>
            <style>\(PageStyle.text)</style>
            </head>
            <body>
            """
    }

    private var overview: String {
        """
        <section class="overview" aria-label="Overview">
        \(SeverityChart(view).html)
        \(ShareChart(view).html)
        \(TreemapChart(view).html)
        </section>
        """
    }

    private var notes: String {
        let notes = view.notes + omissions
        guard !notes.isEmpty else { return "" }
        let items = notes.map { "<li>\(XMLText.escaped($0.printable))</li>" }.joined(separator: "\n")
        return """
            <section class="notes" aria-labelledby="notes">
            <h2 id="notes">What to know besides</h2>
            <ul>
            \(items)
            </ul>
            </section>
            """
    }

    private var omissions: [String] {
        let omitted = view.report.omissions
        return [
            (omitted.ignored, "ignored by fingerprint"), (omitted.inBaseline, "known from the baseline"),
            (omitted.allowedInline, "allowed by a mark in the file"), (view.hidden, "below \(view.least), not listed"),
        ].filter { $0.0 > 0 }.map { "\(FindingText.count($0.0, "finding")) \($0.1)." }
    }

    private var footer: String {
        """
        <footer>
        <p>Made by sealctl \(XMLText.escaped(SealedStateVersion.current)). No value of any file is in this page.</p>
        </footer>
        """
    }
}
