internal import SharedFiles

/// Why a command ends early: what and why in one line, the way out in the next, and a status.
struct Failure: Error, Sendable {
    let status: ExitStatus
    /// Stable, for programs.
    let code: String
    /// What failed and why, without an end mark.
    let message: String
    /// What to do, as a sentence; may be empty.
    let hint: String
    /// Whoever read our output has gone: nobody is left to tell.
    let isSilent: Bool

    init(_ status: ExitStatus, _ code: String, _ message: String, hint: String, isSilent: Bool = false) {
        self.status = status
        self.code = code
        self.message = Self.withoutEndMark(message.printable)
        self.hint = hint.printable
        self.isSilent = isSilent
    }

    /// The arguments of the process are unknown.
    static var noArguments: Failure {
        Failure(
            .systemError, "noArguments",
            "cannot read the command line: the C library passed no arguments, so which command was meant is unknown",
            hint: "Run it on a system with glibc, and with a program name as the first argument; nothing was done.")
    }

    /// Writes it to standard error.
    func report(asJSON: Bool) {
        if isSilent { return }
        StandardStreams.say(asJSON ? json : text)
    }

    /// The parser's messages may end with a question.
    private var sentence: String { message.hasSuffix("?") ? message : message + "." }

    /// Two lines: what failed and why, and what to do.
    private var text: String {
        "sealctl: \(sentence)" + (hint.isEmpty ? "" : "\n  \(hint)")
    }

    private var json: String {
        let fields: [(String, JSONText)] = [
            ("code", .string(code)), ("message", .string(sentence)), ("hint", .string(hint)),
        ]
        return JSONText.object(fields).text
    }

    private static func withoutEndMark(_ message: String) -> String {
        message.hasSuffix(".") ? String(message.dropLast()) : message
    }
}
