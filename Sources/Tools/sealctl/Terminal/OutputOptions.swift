internal import ArgumentParser
internal import AuditReports

/// What every command takes: the form of results and errors, how much is said, and where groups lie.
struct OutputOptions: ParsableArguments {
    @Flag(help: "Results as JSON on standard output, errors as JSON on standard error.")
    var json = false

    @Flag(name: .shortAndLong, help: "Say nothing on standard error but errors and warnings.")
    var quiet = false

    @Flag(name: .shortAndLong, help: "Say on standard error what is opened, and why.")
    var verbose = false

    @Flag(help: "No colours, also on a terminal.")
    var noColor = false

    @Flag(help: "Never ask: what would be asked for is an error.")
    var noInput = false

    @Option(
        help: ArgumentHelp("Where groups lie, in place of $SEALED_GROUPS_HOME.", valueName: "DIR"),
        completion: .directory)
    var root: String?

    @Option(
        help: ArgumentHelp("The vault in DIR instead of the group's own.", valueName: "DIR"), completion: .directory)
    var vault: String?

    func validate() throws {
        guard !quiet || !verbose else { throw ValidationError("--quiet and --verbose exclude each other") }
        // Empty would be the current directory, which nobody means.
        guard root != "" else { throw ValidationError("--root needs a directory, not an empty path") }
        guard vault != "" else { throw ValidationError("--vault needs a directory, not an empty path") }
    }

    /// What was stated, as the source that goes before all others.
    var settings: SettingLayer {
        var layer = SettingLayer(name: SettingLayer.flags)
        if quiet { layer.values[.verbose] = "false" }
        if verbose { layer.values[.quiet] = "false" }
        for (name, isOn) in [(SettingName.quiet, quiet), (.verbose, verbose), (.noInput, noInput)] where isOn {
            layer.values[name] = "true"
        }
        if noColor { layer.values[.color] = "never" }
        layer.values[.root] = root.map(WorkingDirectory.absolute)
        layer.values[.vault] = vault.map(WorkingDirectory.absolute)
        return layer
    }
}

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
