internal import SharedFiles

/// Something that a person should know although the command did its work: one line on standard error.
struct Warning {
    /// Stable, for programs.
    private let code: String
    /// Without an end mark.
    private let message: String
    private let hint: String

    init(_ code: String, _ message: String, hint: String) {
        self.code = code
        self.message = message.printable
        self.hint = hint.printable
    }

    func report(asJSON: Bool) {
        guard asJSON else { return StandardStreams.say("sealctl: warning: \(message). \(hint)") }
        let fields: [(String, JSONText)] = [
            ("warning", .string(code)), ("message", .string(message + ".")), ("hint", .string(hint)),
        ]
        StandardStreams.say(JSONText.object(fields).text)
    }

    /// A change that was made although the access log could not be written.
    ///
    /// - Parameters:
    ///   - change: What was done, as a clause.
    ///   - isKeyLost: Whether the log's key was in a file that was given up.
    static func unlogged(_ change: String, isKeyLost: Bool = false) -> Warning {
        guard !isKeyLost else {
            return Warning(
                "unlogged",
                "\(change), and the access log has no entry of its first write: the key was in the file that was given up",
                hint: "The former log is set aside with that file; a new one has begun.")
        }
        return Warning(
            "unlogged", "\(change), and the access log has no entry of it: it cannot be written",
            hint: "See why: sealctl doctor. After a full disk make room for it.")
    }
}
