internal import AppGroups
internal import ArgumentParser

/// A word in the place of a command that is not the name of one. The parser would report the first option behind it.
struct UnknownCommand {
    /// The command before the word, such as `vault`; empty for the first word.
    private let parents: [String]
    private let siblings: [String]
    private let word: String

    /// - Parameter arguments: The arguments from the command on.
    /// - Throws: `Failure` `usage` with the most likely intended command.
    static func refuse(in arguments: ArraySlice<String>) throws(Failure) {
        guard let unknown = find(in: arguments) else { return }
        throw unknown.failure
    }

    private static func find(in arguments: ArraySlice<String>) -> UnknownCommand? {
        var commands = Sealctl.configuration.subcommands
        var parents: [String] = []
        for word in arguments {
            // Options and the help command belong to the parser.
            guard !commands.isEmpty, !word.hasPrefix("-"), !parents.isEmpty || word != "help" else { return nil }
            guard let command = commands.first(where: { $0.configuration.commandName == word }) else {
                let siblings = commands.compactMap { $0.configuration.commandName }
                return UnknownCommand(parents: parents, siblings: siblings, word: word)
            }
            parents.append(word)
            commands = command.configuration.subcommands
        }
        return nil
    }

    private var failure: Failure {
        let name = (parents + [word]).joined(separator: " ")
        let meant = intended.map { "sealctl " + $0.joined(separator: " ") }.joined(separator: " or ")
        let help = (["sealctl"] + parents + ["--help"]).joined(separator: " ")
        return Failure(
            .usage, "usage", "the command \"\(name)\" does not exist",
            hint: (meant.isEmpty ? "" : "Is \(meant) meant? ") + "See \(help).")
    }

    /// The most likely intended commands, each as the words behind `sealctl`: one beside the word; else those of that
    /// name that have the fewest words.
    private var intended: [[String]] {
        let synonym = Self.synonyms[word]?.first { siblings.contains($0) }
        if let sibling = synonym ?? NearestName.nearest(to: word, among: siblings) { return [parents + [sibling]] }
        let all = Self.paths(below: Sealctl.configuration.subcommands)
        guard let name = NearestName.nearest(to: word, among: all.compactMap(\.last)) else { return [] }
        let found = all.filter { $0.last == name }
        let fewest = found.map(\.count).min() ?? 0
        return Array(found.filter { $0.count == fewest }.prefix(3))
    }

    /// Names of other programs for commands of this one. The first that the place has is meant.
    private static let synonyms: [String: [String]] = [
        "ls": ["list"], "rm": ["delete", "remove"], "remove": ["delete"], "delete": ["remove"],
        "cat": ["get", "read", "show"], "show": ["get", "read", "status"], "read": ["get"], "set": ["put", "write"],
        "write": ["put"], "seal": ["encrypt"], "unseal": ["decrypt"], "run": ["exec"], "rename": ["change"],
    ]

    /// Returns the words of every command.
    private static func paths(
        below commands: [any ParsableCommand.Type], _ parents: [String] = []
    ) -> [[String]] {
        commands.flatMap { command -> [[String]] in
            guard let name = command.configuration.commandName else { return [] }
            let path = parents + [name]
            return [path] + paths(below: command.configuration.subcommands, path)
        }
    }
}
