internal import AppGroups
internal import ArgumentParser
internal import AuditReports
internal import Glibc
internal import KeyVault
internal import SharedFiles
internal import Synchronization

/// The command line of SealedState.
@main
struct Sealctl: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "sealctl",
        abstract: "Sealed state that several programs share: records, streams, vaults, and audits of containers.",
        discussion: HelpText.root,
        version: "sealctl \(SealedStateVersion.current)",
        subcommands: [
            InitCommand.self, PutCommand.self, GetCommand.self, ListCommand.self, WatchCommand.self,
            HistoryCommand.self, EditCommand.self, DeleteCommand.self, SnapshotCommand.self,
            FileCommand.self, MailboxCommand.self, ChannelCommand.self, EncryptCommand.self, DecryptCommand.self,
            InspectCommand.self,
            ExplainCommand.self,
            AuditCommand.self,
            VaultCommand.self, ExecCommand.self, WriterCommand.self, RosterCommand.self,
            DefaultsCommand.self, ContainerCommand.self, EntitlementsCommand.self, ImportCommand.self,
            DoctorCommand.self, RepairCommand.self,
        ])

    /// Parses and runs one command. Every exit has a status of `ExitStatus`.
    static func main() {
        StandardStreams.prepare()
        SecretProcess.begin()
        EntitlementRequirement.exemptThisProcess()
        requireArguments()
        do {
            let arguments = GlobalFlags.placed(ProgramArguments.all)
            if showTopic(arguments) { return }
            try UnknownCommand.refuse(in: GlobalFlags.skipped(ProgramArguments.all))
            var command = try parseAsRoot(arguments)
            try command.run()
        } catch {
            end(for: error)
        }
    }

    /// Ends with status 71 if the system passed no arguments. An empty list would show the help and succeed without a
    /// command. Linux replaces an empty list by one with an empty string.
    private static func requireArguments() {
        guard ProgramArguments.all.isEmpty || ProgramArguments.all == [""] else { return }
        Failure.noArguments.report(asJSON: false)
        exit(Failure.noArguments.status)
    }

    /// Shows a help topic if one was requested, and returns `true`. A topic is not a command and has no options.
    private static func showTopic(_ arguments: [String]) -> Bool {
        do throws(Failure) {
            guard let text = try HelpTopic.asked(arguments) else { return false }
            try StandardStreams.print(text)
            return true
        } catch {
            end(with: error)
        }
    }

    private static func end(for error: any Error) -> Never {
        if error is ExitCode { exit(withError: error) }
        if let failure = error as? Failure { end(with: failure) }
        if exitCode(for: error) == .success { end(showing: fullMessage(for: error)) }
        guard exitCode(for: error) == .validationFailure else { exit(withError: error) }
        // A usage error gets one sentence and a pointer to the help.
        end(with: Failure(.usage, "usage", sentence(for: error), hint: "See \(helpCommand)."))
    }

    /// The first line of the parser's message, with the values that the parser lists one per line below it.
    private static func sentence(for error: any Error) -> String {
        let lines = message(for: error).split(separator: "\n")
        guard let first = lines.first else { return "wrong usage" }
        let bullet = "  - "
        let values = lines.dropFirst().prefix { $0.hasPrefix(bullet) }.map { $0.dropFirst(bullet.count) }
        return values.isEmpty ? String(first) : "\(first) \(values.joined(separator: ", "))"
    }

    private static func end(with failure: Failure) -> Never {
        failure.report(asJSON: GlobalFlags.wantsJSON(ProgramArguments.all))
        exit(failure.status)
    }

    /// Prints help, versions, completion scripts or completion words, and ends. A failed write is an error.
    private static func end(showing text: String) -> Never {
        let isCompletion = CompletionText.isAsked(Array(ProgramArguments.withoutName))
        do throws(Failure) {
            try StandardStreams.print(isCompletion ? CompletionText.safe(text) : text)
        } catch {
            end(with: error)
        }
        exit(.success)
    }

    /// The help command for the innermost command that the arguments name.
    private static var helpCommand: String {
        var words = ["sealctl"]
        var commands = configuration.subcommands
        for argument in ProgramArguments.withoutName {
            guard let command = commands.first(where: { $0.configuration.commandName == argument }) else { break }
            words.append(argument)
            commands = command.configuration.subcommands
        }
        return (words + ["--help"]).joined(separator: " ")
    }

    private static func exit(_ status: ExitStatus) -> Never { Glibc.exit(status.rawValue) }
}

/// A command of `sealctl`. It ends normally or with one `Failure`, which is reported in the requested form.
protocol SealctlCommand: ParsableCommand {
    var output: OutputOptions { get }
    /// Loads the settings, before anything else is done.
    func prepare() throws(Failure)
    /// Performs the command's work.
    func perform() throws(Failure)
}

extension SealctlCommand {
    func prepare() throws(Failure) { try Settings.begin(with: statedSettings) }

    func run() throws {
        do throws(Failure) {
            try prepare()
            try perform()
        } catch {
            error.report(asJSON: output.json)
            throw ExitCode(error.status.rawValue)
        }
    }
}

/// The protection of a process with secrets: no core file contains its memory, and other programs of the same user
/// cannot read it.
enum SecretProcess {
    /// The limit on core files with which the program was started. Programs that it starts get this limit.
    static var formerCoreLimit: rlimit { former.withLock { $0 } }
    private static let former = Mutex(rlimit())

    /// Starts the protection. It is called before any secret is read. Lowering a limit and hiding are always allowed.
    static func begin() {
        var limit = rlimit()
        getrlimit(__rlimit_resource_t(RLIMIT_CORE.rawValue), &limit)
        former.withLock { [limit] in $0 = limit }
        limit.rlim_cur = 0
        setrlimit(__rlimit_resource_t(RLIMIT_CORE.rawValue), &limit)
        ProcessMemory.hide()
    }
}
