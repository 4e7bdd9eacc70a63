/// How an utterance reads in the timeline.
enum Wording {
    static func of(_ utterance: Utterance) -> (String, Palette.Tone) {
        switch utterance.state {
        case "refused": ("REFUSED (\(utterance.detail)) \(utterance.text)", .bad)
        case "failed": ("FAILED (\(utterance.detail)) \(utterance.text)", .bad)
        // The sequence; the state is in the text.
        case "wrote": ("wrote \(utterance.detail.prefix { $0 != " " }): \(utterance.text)", .plain)
        case "named": ("\(utterance.detail): \(utterance.text)", .plain)
        default: (utterance.text, .plain)
        }
    }
}
