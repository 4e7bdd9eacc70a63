internal import ArgumentParser
internal import ContainerAudit

/// What an audit looks at, and how hard.
struct AuditSearchOptions: ParsableArguments {
    @Flag(help: "Open sealed blobs with the group's vault; an error where the vault does not open.")
    var withKeys = false

    @Flag(help: "Do not open the vault, nor ask for anything that opens it.")
    var withoutKeys = false

    @Flag(help: "Do not read files value by value for secrets: shapes, places and modes only.")
    var noSecrets = false

    @Option(
        help: ArgumentHelp("How many files are read at once; as many as there are processors.", valueName: "N"))
    var jobs: Int?

    @Option(help: ArgumentHelp("How many findings are listed at most; all are counted.", valueName: "N"))
    var maxFindings: Int?

    func validate() throws {
        if withKeys, withoutKeys { throw ValidationError("--with-keys and --without-keys exclude each other.") }
        if let jobs, !(1...256).contains(jobs) { throw ValidationError("--jobs takes a number from 1 to 256.") }
        if let maxFindings, maxFindings < 1 { throw ValidationError("--max-findings takes a number from 1.") }
    }

    func apply(to options: inout AuditOptions) {
        options.searchesSecrets = !noSecrets
        options.workers = jobs
        if let maxFindings { options.limits.maximumFindings = maxFindings }
    }
}
