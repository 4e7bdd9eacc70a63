internal import ArgumentParser
internal import AuditReports

/// The options of every command: the form of results and errors, the verbosity, and the directories.
struct OutputOptions: ParsableArguments {
    @Flag(help: "Results as JSON on standard output, errors as JSON on standard error.")
    var json = false

    @Flag(name: .shortAndLong, help: "Print only errors and warnings on standard error.")
    var quiet = false

    @Flag(name: .shortAndLong, help: "Print on standard error what is opened, and why.")
    var verbose = false

    @Flag(help: "Do not use colours, even on a terminal.")
    var noColor = false

    @Flag(help: "Never ask; a question is an error.")
    var noInput = false

    @Option(
        help: ArgumentHelp("The directory of the groups, instead of $SEALED_GROUPS_HOME.", valueName: "DIR"),
        completion: .directory)
    var root: String?

    @Option(
        help: ArgumentHelp("Use the vault in DIR instead of the group's own.", valueName: "DIR"), completion: .directory
    )
    var vault: String?

    func validate() throws {
        guard !quiet || !verbose else { throw ValidationError("--quiet and --verbose exclude each other") }
        // An empty path would be the current directory, which is never intended.
        guard root != "" else { throw ValidationError("--root needs a directory, not an empty path") }
        guard vault != "" else { throw ValidationError("--vault needs a directory, not an empty path") }
    }

    /// The stated options, as the source with the highest precedence.
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

/// The options of every command, which may precede the command.
enum GlobalFlags {
    private static let flags: Set<String> = [
        "--json", "--quiet", "-q", "--verbose", "-v", "--no-color", "--no-input",
    ]
    private static let options: Set<String> = ["--group", "--root", "--vault"]

    /// Returns the arguments without the program's name, and moves options before the command behind it: `sealctl -q
    /// list` becomes `sealctl list -q`.
    static func placed(_ arguments: [String]) -> [String] {
        let arguments = Array(arguments.dropFirst())
        let count = leading(arguments)
        guard count > 0, count < arguments.count else { return arguments }
        let rest = arguments[count...]
        let words = commandWords(rest)
        // The parser reports the unknown command, and shows help and version.
        guard words > 0 else { return Array(rest) }
        return Array(rest.prefix(words) + arguments[..<count] + rest.dropFirst(words))
    }

    /// Returns the arguments without the program's name and the options before the command.
    static func skipped(_ arguments: [String]) -> ArraySlice<String> {
        let arguments = arguments.dropFirst()
        return arguments.dropFirst(leading(Array(arguments)))
    }

    /// Returns `true` if errors are for machines. The words after `--` belong to another program.
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

    /// Returns the number of words that name the command.
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
