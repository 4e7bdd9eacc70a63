internal import ContainerAudit
internal import SharedFiles

/// The report as one self-contained page: it needs no network and no other file.
///
/// Everything that comes from a container is escaped. The page's content security policy forbids every script and style
/// but these two, so a file name that escaped the escaping would still have no effect.
struct AuditPage {
    private let view: AuditView

    init(_ view: AuditView) { self.view = view }

    func write(to sink: any ReportSink) {
        sink.writeLine(head)
        sink.writeLine(PageHeader(view).html)
        sink.writeLine("<main>")
        sink.writeLine(TreemapChart(view).html)
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

    private var notes: String {
        let notes = view.notes + omissions
        guard !notes.isEmpty else { return "" }
        let items = notes.map { "<li>\(XMLText.escaped($0.printable))</li>" }.joined(separator: "\n")
        return """
            <section class="notes" aria-labelledby="notes">
            <h2 id="notes">Notes</h2>
            <ul>
            \(items)
            </ul>
            </section>
            """
    }

    private var omissions: [String] {
        let omitted = view.report.omissions
        return [
            (omitted.ignored, "ignored by fingerprint"), (omitted.inBaseline, "in the baseline"),
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

/// The top of the page: the verdict and the subject of the audit.
struct PageHeader {
    private let view: AuditView
    private var report: AuditReport { view.report }

    init(_ view: AuditView) { self.view = view }

    var html: String {
        """
        <header class="top">
        <div class="bar">
        <p class="brand"><svg viewBox="0 0 24 24" width="18" height="18" aria-hidden="true">\(Self.mark)</svg>container audit</p>
        <button type="button" id="theme" hidden>Dark</button>
        </div>
        <p class="verdict \(verdict.mood)"><span>\(verdict.word)</span></p>
        <h1>\(XMLText.escaped(verdict.sentence))</h1>\(PageCounts(view).severities)
        <p class="path">\(PathText.html(report.containerPath))</p>
        <p class="facts">\(facts.map { "<span>\(XMLText.escaped($0))</span>" }.joined())</p>
        </header>
        """
    }

    /// The name of the group or directory.
    var name: String { report.group ?? report.containerPath }

    private static let mark =
        #"<path d="M12 2.5 4 5.6v6c0 4.6 3.3 8.3 8 9.9 4.7-1.6 8-5.3 8-9.9v-6z" fill="none" stroke="currentColor""#
        + #" stroke-width="1.8" stroke-linejoin="round"/><path d="m8.6 12 2.4 2.4 4.4-4.6" fill="none""#
        + #" stroke="currentColor" stroke-width="1.8" stroke-linecap="round" stroke-linejoin="round"/>"#

    private var facts: [String] {
        [
            report.group, report.withKeys ? "opened with the vault’s keys" : "audited without keys",
            FindingText.count(report.files.count, "file"), ByteText.text(view.totalBytes),
            Timestamp(report.auditedAt).short,
        ].compactMap { $0?.printable }
    }

    private var verdict: (mood: String, word: String, sentence: String) {
        let total = view.total
        if view.failing > 0 {
            return ("bad", "Fails at \(view.threshold)", "\(FindingText.count(view.failing, "finding")) to fix")
        }
        if total > 0 {
            let count = FindingText.count(total, "finding")
            return ("good", "Passes at \(view.threshold)", "\(count), none of which needs a change")
        }
        if !report.withKeys {
            let reason = FindingText.reasonForNoKeys(report)
            return ("unsure", "Not all seen", "Nothing found; sealed blobs were not opened: \(reason.printable)")
        }
        return ("good", "Clean", "Nothing found")
    }
}

/// Paths as HTML that may be broken behind each part.
enum PathText {
    static func html(_ path: String) -> String {
        path.printable.split(separator: "/", omittingEmptySubsequences: false).map { XMLText.escaped(String($0)) }
            .joined(separator: "/<wbr>")
    }
}

/// Kinds of files as readable words.
enum KindText {
    private static let special = ["json": "JSON", "sqlite": "SQLite"]

    /// Returns the words of a kind; `binaryPropertyList` is "binary property list".
    static func text(_ kind: FileClass) -> String {
        special[kind.rawValue]
            ?? kind.rawValue.printable.reduce(into: "") { text, character in
                text += character.isUppercase ? " " + character.lowercased() : String(character)
            }
    }

    /// Returns the CSS class of the kind's colour.
    static func group(_ kind: FileClass) -> String {
        kind.isSealed ? "sealed" : kind.isPlaintext || kind == .keyFile ? "open" : "other"
    }
}

/// Text for XML 1.0 and HTML, between tags or in a quoted attribute.
enum XMLText {
    /// Returns the text with markup characters as references, and with U+FFFD for characters that XML cannot contain.
    static func escaped(_ text: String) -> String {
        guard text.utf8.contains(where: { !isPlain($0) }) else { return text }
        return text.unicodeScalars.reduce(into: "") { result, scalar in
            switch scalar {
            case "&": result += "&amp;"
            case "<": result += "&lt;"
            case ">": result += "&gt;"
            case "\"": result += "&quot;"
            case "'": result += "&#39;"
            // As references, because parsers normalise them in an attribute's value.
            case "\t", "\n", "\r": result += "&#\(scalar.value);"
            default: result.unicodeScalars.append(isAllowed(scalar) ? scalar : "\u{FFFD}")
            }
        }
    }

    private static func isPlain(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "&"), UInt8(ascii: "<"), UInt8(ascii: ">"), UInt8(ascii: "\""), UInt8(ascii: "'"): false
        default: (0x20..<0x7F).contains(byte)
        }
    }

    /// Checks that a scalar is a character of XML 1.0, section 2.2, without the controls that the standard advises
    /// against.
    private static func isAllowed(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        case 0..<0x20, 0x7F...0x9F, 0xFFFE...0xFFFF: false
        default: scalar.value & 0xFFFE != 0xFFFE
        }
    }
}
