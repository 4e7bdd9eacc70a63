internal import SharedFiles

/// What is said beside results and errors, always on standard error.
enum Talk {
    /// Something that was opened or decided, and why; with `--verbose` only. Never a value, a passphrase or a key.
    static func detail(_ line: @autoclosure () -> String) {
        guard Settings.current.isOn(.verbose) else { return }
        StandardStreams.say("sealctl: \(line().printable)")
    }

    /// Something that helps a person and that the result does not need; not with `--quiet`.
    static func note(_ line: @autoclosure () -> String) {
        guard !isQuiet else { return }
        StandardStreams.say("sealctl: \(line().printable)")
    }

    static var isQuiet: Bool { Settings.current.isOn(.quiet) }
}
