/// Whether text for people may have colours.
enum Appearance {
    /// `--no-color`, `NO_COLOR` and a dumb terminal say no; else colours are for terminals, unless the settings say always.
    ///
    /// - Parameter isTerminal: Whether the stream that gets the text is one.
    static func usesColor(onTerminal isTerminal: Bool) -> Bool {
        switch Settings.current[.color]?.text {
        case "never": false
        case "always": true
        default: isTerminal
        }
    }

    /// The same for standard output.
    static var outputUsesColor: Bool { usesColor(onTerminal: StandardStreams.outputIsTerminal) }
}
