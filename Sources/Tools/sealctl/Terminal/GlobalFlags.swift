internal import ArgumentParser

/// Options that every command takes, wherever a person writes them.
enum GlobalFlags {
    private static let flags: Set<String> = [
        "--json", "--quiet", "-q", "--verbose", "-v", "--no-color", "--no-input",
    ]
    private static let options: Set<String> = ["--group", "--root", "--vault"]

    /// The arguments without the program's name, with options that stand before the command moved behind it:
    /// `sealctl -q list` is `sealctl list -q`.
    static func placed(_ arguments: [String]) -> [String] {
        let arguments = Array(arguments.dropFirst())
        let count = leading(arguments)
        guard count > 0, count < arguments.count else { return arguments }
        let rest = arguments[count...]
        let words = commandWords(rest)
        // The parser says what is wrong with the word that is no command, and shows help and version.
        guard words > 0 else { return Array(rest) }
        return Array(rest.prefix(words) + arguments[..<count] + rest.dropFirst(words))
    }

    /// Whether errors are for machines; what stands behind `--` is another program's.
    static func wantsJSON(_ arguments: [String]) -> Bool {
        arguments.prefix { $0 != "--" }.contains("--json")
    }

    private static func leading(_ arguments: [String]) -> Int {
        var count = 0
        while count < arguments.count {
            let word = arguments[count]
            if flags.contains(word) || options.contains(where: { word.hasPrefix($0 + "=") }) {
                count += 1
            } else if options.contains(word) {
                count += 2
            } else {
                break
            }
        }
        return min(count, arguments.count)
    }

    /// How many words name the command.
    private static func commandWords(_ arguments: ArraySlice<String>) -> Int {
        var commands = Sealctl.configuration.subcommands
        var count = 0
        for word in arguments {
            guard let command = commands.first(where: { $0.configuration.commandName == word }) else { break }
            count += 1
            commands = command.configuration.subcommands
        }
        return count
    }
}
