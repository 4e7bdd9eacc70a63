internal import ArgumentParser
internal import Glibc
internal import SharedFiles

/// A person's consent to a command that locks others out or empties something.
///
/// Without `--yes` and without a terminal such a command does nothing and fails with status 64.
struct Confirmation: ParsableArguments {
    @Flag(name: .shortAndLong, help: "Do not ask for a confirmation.")
    var yes = false

    /// Asks once, unless `--yes` was given.
    ///
    /// - Parameters:
    ///   - action: The action, as the end of a sentence with `this would`.
    ///   - losses: The losses and the affected users, a sentence each.
    /// - Throws: `Failure` `confirmationNeeded` without a terminal; `declined`.
    func require(_ action: String, _ losses: [String]) throws(Failure) {
        guard yes || Self.canAsk else {
            throw Failure(
                .usage, "confirmationNeeded",
                "this would \(action), so it needs a confirmation: \(losses.joined(separator: " "))", hint: Self.hint)
        }
        guard try isGiven(to: action, losses) else {
            throw Failure(.unavailable, "declined", "nothing was changed", hint: "")
        }
    }

    /// Returns whether the user consents: `false` also if no user can be asked.
    ///
    /// For a part that a command can leave out; `require(_:_:)` ends the command.
    func isGiven(to action: String, _ losses: [String]) throws(Failure) -> Bool {
        if yes { return true }
        guard Self.canAsk else { return false }
        StandardStreams.say("This would \(action.printable).")
        for loss in losses { StandardStreams.say("  \(loss.printable)") }
        return try Question(text: "Do this?", hint: Self.hint).ask()
    }

    private static var canAsk: Bool { Interaction.isAllowed && Question.hasTerminal }

    private static let hint = "Nothing was changed. To do it, add --yes."
}

/// Names of affected users and programs, for a sentence.
enum Affected {
    /// Returns a list such as `a, b and 3 more`, or the alternative if it is empty.
    static func list(_ names: [String], orElse alternative: String) -> String {
        guard !names.isEmpty else { return alternative }
        let shown = names.prefix(5).joined(separator: ", ")
        return names.count > 5 ? "\(shown) and \(names.count - 5) more" : shown
    }
}

/// A question with yes or no, on the terminal, even if the standard streams are redirected.
struct Question {
    /// The text without the answers.
    let text: String
    /// The option that answers the question in advance.
    let hint: String

    /// Returns `true` if the process has a terminal.
    static var hasTerminal: Bool {
        let opened = open("/dev/tty", O_RDWR | O_CLOEXEC | O_NOCTTY)
        if opened >= 0 { close(opened) }
        return opened >= 0
    }

    /// Returns `true` if the answer was yes.
    ///
    /// - Throws: `Failure` `inputNeeded` with `--no-input`, `noTerminal` without a terminal.
    func ask() throws(Failure) -> Bool {
        try Interaction.require(for: "a yes or no", hint: hint)
        let opened = open("/dev/tty", O_RDWR | O_CLOEXEC | O_NOCTTY)
        guard opened >= 0 else {
            throw Failure(.unavailable, "noTerminal", "there is no terminal for the question", hint: hint)
        }
        defer { close(opened) }
        let prompt = Array("\(text.printable) [y/N] ".utf8)
        _ = prompt.withUnsafeBytes { write(opened, $0.baseAddress, $0.count) }
        var answer = [UInt8](repeating: 0, count: 64)
        let count = read(opened, &answer, answer.count)
        let word = String(decoding: answer[..<max(0, count)].prefix { $0 != 0x0A }, as: UTF8.self)
        return ["y", "yes"].contains(word.lowercased())
    }
}

/// The permission to ask a person.
enum Interaction {
    static var isAllowed: Bool { !Settings.current.isOn(.noInput) }

    /// - Parameters:
    ///   - subject: The requested value.
    ///   - hint: The option that states it in advance.
    /// - Throws: `Failure` `inputNeeded` with `--no-input`.
    static func require(for subject: String, hint: String) throws(Failure) {
        guard !isAllowed else { return }
        let origin = Settings.current[.noInput]?.origin ?? SettingName.noInput.flag
        throw Failure(
            .unavailable, "inputNeeded", "sealctl would ask for \(subject), and \(origin) forbids that", hint: hint)
    }
}
