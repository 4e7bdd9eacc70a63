internal import ArgumentParser

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
