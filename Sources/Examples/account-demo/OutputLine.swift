/// The sources of the timeline's lines.
enum LineSource: String, CaseIterable {
    case app, widget, share, helper, intruder, audit

    /// The width of the sources' column.
    static let width = allCases.map(\.rawValue.count).max() ?? 0
}

/// A line of a source: words for programs, a colon, and a text for users.
///
/// `refused tampered: The contents were changed.` is the state `refused` with the detail `tampered`.
struct OutputLine {
    let source: LineSource
    /// The event: the first word before the colon; empty for a line of another form.
    let state: String
    /// The second word before the colon, if any.
    let detail: String
    /// The text for people.
    let text: String

    /// Creates a line with text only.
    init(_ source: LineSource, withText text: String) {
        self.source = source
        (state, detail, self.text) = ("", "", text)
    }

    /// Parses a program's line.
    init(_ source: LineSource, line: String) {
        let colon = line.firstIndex(of: ":") ?? line.startIndex
        let words = line[..<colon].split(separator: " ")
        guard (1...3).contains(words.count) else {
            self.init(source, withText: line)
            return
        }
        self.init(
            source, String(words[0]), detail: words.dropFirst().joined(separator: " "),
            text: String(line[colon...].dropFirst().drop { $0 == " " }))
    }

    init(_ source: LineSource, _ state: String, detail: String, text: String) {
        self.source = source
        self.state = state
        self.detail = detail
        self.text = text
    }
}

/// The wording of a line in the timeline.
enum Wording {
    static func of(_ outputLine: OutputLine) -> (String, Palette.Tone) {
        switch outputLine.state {
        case "refused": ("REFUSED (\(outputLine.detail)) \(outputLine.text)", .bad)
        case "failed": ("FAILED (\(outputLine.detail)) \(outputLine.text)", .bad)
        // The sequence number; the state is in the text.
        case "wrote": ("wrote \(outputLine.detail.prefix { $0 != " " }): \(outputLine.text)", .plain)
        case "named": ("\(outputLine.detail): \(outputLine.text)", .plain)
        default: (outputLine.text, .plain)
        }
    }
}
