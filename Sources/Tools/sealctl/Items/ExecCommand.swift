internal import ArgumentParser
internal import KeyVault

/// `sealctl exec`: runs a program with items.
struct ExecCommand: SealctlCommand {
    static let configuration = CommandConfiguration(
        commandName: "exec",
        abstract: "Run a program with items in its environment or on its descriptors.",
        discussion: """
            The program replaces sealctl: it has sealctl's process id and streams, and sealctl returns its exit \
            status. It inherits the rest of the environment and every open descriptor. An item that is missing, locked \
            or unusable is an error before the program runs. SERVICE/ACCOUNT names an item; a slash within one of them \
            is written %2F, a percent sign %25.

            Every program of the same user can read an environment, and the program's children inherit it. A \
            descriptor is a pipe: it can be read once, and its contents are not swapped to disk. /dev/fd/N passes it \
            to programs that need a file. 0 is standard input.

            Examples:
              sealctl exec --env PGPASSWORD=db.example.com/ada -- psql -h db -U ada
              sealctl exec --fd 3=host/tls -- openssl rsa -in host.pem -passin fd:3
              sealctl exec --fd 0=hub.example.com/ci -- podman login --password-stdin hub
            """)

    @OptionGroup var target: VaultTarget
    @Option(
        help: ArgumentHelp("Put an item into the environment; can be repeated.", valueName: "NAME=SERVICE/ACCOUNT"),
        transform: VariableBinding.init(parsing:))
    var env: [VariableBinding] = []
    @Option(
        help: ArgumentHelp("Put an item on file descriptor N; can be repeated.", valueName: "N=SERVICE/ACCOUNT"),
        transform: DescriptorBinding.init(parsing:))
    var fd: [DescriptorBinding] = []
    @OptionGroup(title: "Key options") var keyOptions: KeyOptions
    @OptionGroup(title: "Global options") var output: OutputOptions
    @Argument(
        parsing: .captureForPassthrough, help: ArgumentHelp("The program and its arguments.", valueName: "program"))
    var words: [String] = []

    /// The program and its arguments. The captured words may begin with the mark that ends the options.
    private var program: ArraySlice<String> { words.first == "--" ? words.dropFirst() : words[...] }

    func validate() throws {
        if let first = words.first, first != "--", first.hasPrefix("-") {
            // The captured words take precedence over the options of every command.
            if first == "--help" || first == "-h" { throw CleanExit.helpRequest(self) }
            if first == "--version" { throw CleanExit.message(Sealctl.configuration.version) }
            throw ValidationError("Unknown option '\(first)'.")
        }
        guard let name = program.first, !name.isEmpty else { throw ValidationError("Name a program after --.") }
        guard !env.isEmpty || !fd.isEmpty else { throw ValidationError("Name an item: --env or --fd.") }
        guard Set(env.map(\.name)).count == env.count, Set(fd.map(\.number)).count == fd.count else {
            throw ValidationError("Give each name and each descriptor once.")
        }
    }

    func perform() throws(Failure) {
        let vault = try keyOptions.openVault(of: try target.checked())
        let variables = try env.map { binding throws(Failure) in try SecretVariable(binding, from: vault) }
        let pipes = try fd.map { binding throws(Failure) in try ItemPipe(binding, from: vault, above: highest) }
        try ProgramStart(wordCount: program.count, variables: variables, pipes: pipes).run()
    }

    /// The highest descriptor of the program. All descriptors of this process are above it, so that `dup2` never
    /// replaces one that is still needed.
    private var highest: Int32 { fd.map(\.number).max() ?? 2 }
}
