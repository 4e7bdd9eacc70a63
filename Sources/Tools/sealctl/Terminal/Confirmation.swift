internal import ArgumentParser
internal import SharedFiles

/// A person's consent to a command that locks others out, or empties something.
///
/// Without `--yes` and without a terminal to ask on, such a command does nothing and fails with status 64.
struct Confirmation: ParsableArguments {
    @Flag(name: .shortAndLong, help: "Do it without asking.")
    var yes = false

    /// Asks once, unless `--yes` was given.
    ///
    /// - Parameters:
    ///   - action: What would be done, as it ends `this would`.
    ///   - losses: What would be lost and for whom, a sentence each.
    /// - Throws: `Failure` `confirmationNeeded` where nobody can be asked; `declined`.
    func require(_ action: String, _ losses: [String]) throws(Failure) {
        if yes { return }
        let question = Question(text: "Do this?", hint: Self.hint)
        guard Interaction.isAllowed, Question.hasTerminal else {
            throw Failure(
                .usage, "confirmationNeeded",
                "this would \(action), so it needs a confirmation: \(losses.joined(separator: " "))", hint: Self.hint)
        }
        StandardStreams.say("This would \(action.printable).")
        for loss in losses { StandardStreams.say("  \(loss.printable)") }
        guard try question.ask() else {
            throw Failure(.unavailable, "declined", "nothing was changed", hint: "")
        }
    }

    private static let hint = "Nothing was changed. If that is meant, add --yes."
}

/// Names of those who are affected, for a sentence.
enum Affected {
    /// `a, b and 3 more`; `nobody` for none.
    static func list(_ names: [String], orElse nobody: String) -> String {
        guard !names.isEmpty else { return nobody }
        let shown = names.prefix(5).joined(separator: ", ")
        return names.count > 5 ? "\(shown) and \(names.count - 5) more" : shown
    }
}
