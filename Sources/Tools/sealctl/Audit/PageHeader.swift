internal import ContainerAudit
internal import SharedFiles

/// The top of the page: the verdict, and what was looked at.
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
        <h1>\(XMLText.escaped(verdict.sentence))</h1>
        <p class="path">\(PathText.html(report.containerPath))</p>
        <p class="facts">\(facts.map { "<span>\(XMLText.escaped($0))</span>" }.joined())</p>
        </header>
        """
    }

    /// The group's, or the directory's.
    var name: String { report.group ?? report.containerPath }

    private static let mark =
        #"<path d="M12 2.5 4 5.6v6c0 4.6 3.3 8.3 8 9.9 4.7-1.6 8-5.3 8-9.9v-6z" fill="none" stroke="currentColor""#
        + #" stroke-width="1.8" stroke-linejoin="round"/><path d="m8.6 12 2.4 2.4 4.4-4.6" fill="none""#
        + #" stroke="currentColor" stroke-width="1.8" stroke-linecap="round" stroke-linejoin="round"/>"#

    private var facts: [String] {
        [
            report.group, report.withKeys ? "opened with the vault’s keys" : "looked at without keys",
            FindingText.count(report.files.count, "file"), ByteText.text(view.totalBytes),
            Timestamp(report.auditedAt).short,
        ].compactMap { $0?.printable }
    }

    private var verdict: (mood: String, word: String, sentence: String) {
        let total = view.total
        if view.failing > 0 {
            return ("bad", "Fails at \(view.threshold)", "\(FindingText.count(view.failing, "finding")) to mend")
        }
        if total > 0 {
            let count = FindingText.count(total, "finding")
            return ("good", "Passes at \(view.threshold)", "\(count), nothing that has to be mended")
        }
        if !report.withKeys {
            let reason = FindingText.reasonForNoKeys(report)
            return ("unsure", "Not all seen", "Nothing found; sealed blobs were not opened: \(reason.printable)")
        }
        return ("good", "Clean", "Nothing found")
    }
}

/// Paths that may be broken behind each part.
enum PathText {
    static func html(_ path: String) -> String {
        path.printable.split(separator: "/", omittingEmptySubsequences: false).map { XMLText.escaped(String($0)) }
            .joined(separator: "/<wbr>")
    }
}

/// Kinds of files as people call them.
enum KindText {
    private static let special = ["json": "JSON", "sqlite": "SQLite"]

    /// `binaryPropertyList` is a binary property list.
    static func text(_ kind: FileClass) -> String {
        special[kind.rawValue]
            ?? kind.rawValue.printable.reduce(into: "") { text, character in
                text += character.isUppercase ? " " + character.lowercased() : String(character)
            }
    }

    /// The class of its colour.
    static func group(_ kind: FileClass) -> String {
        kind.isSealed ? "sealed" : kind.isPlaintext || kind == .keyFile ? "open" : "other"
    }
}
