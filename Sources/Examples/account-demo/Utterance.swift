/// The speakers of the timeline.
enum Speaker: String, CaseIterable {
    case app, widget, intruder, audit

    /// The width of the speakers' column.
    static let width = allCases.map(\.rawValue.count).max() ?? 0
}

/// A line of a speaker: words for machines, a colon, and a text for people.
///
/// `refused tampered: The contents were changed.` is the state `refused` with the detail `tampered`.
struct Utterance {
    let speaker: Speaker
    /// The event: the first word before the colon; empty for a line of another form.
    let state: String
    /// The second word before the colon, if any.
    let detail: String
    /// The text for people.
    let text: String

    /// Creates an utterance with text only.
    init(_ speaker: Speaker, saying text: String) {
        self.speaker = speaker
        (state, detail, self.text) = ("", "", text)
    }

    /// Parses a program's line.
    init(_ speaker: Speaker, line: String) {
        let colon = line.firstIndex(of: ":") ?? line.startIndex
        let words = line[..<colon].split(separator: " ")
        guard (1...3).contains(words.count) else {
            self.init(speaker, saying: line)
            return
        }
        self.init(
            speaker, String(words[0]), detail: words.dropFirst().joined(separator: " "),
            text: String(line[colon...].dropFirst().drop { $0 == " " }))
    }

    init(_ speaker: Speaker, _ state: String, detail: String, text: String) {
        self.speaker = speaker
        self.state = state
        self.detail = detail
        self.text = text
    }
}

/// The wording of an utterance in the timeline.
enum Wording {
    static func of(_ utterance: Utterance) -> (String, Palette.Tone) {
        switch utterance.state {
        case "refused": ("REFUSED (\(utterance.detail)) \(utterance.text)", .bad)
        case "failed": ("FAILED (\(utterance.detail)) \(utterance.text)", .bad)
        // The sequence number; the state is in the text.
        case "wrote": ("wrote \(utterance.detail.prefix { $0 != " " }): \(utterance.text)", .plain)
        case "named": ("\(utterance.detail): \(utterance.text)", .plain)
        default: (utterance.text, .plain)
        }
    }
}
