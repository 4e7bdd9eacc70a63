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
        abstract: "Sealed state that several programs share: records, streams, vaults, and what lies in a container.",
        discussion: HelpText.root,
        version: "sealctl \(SealedStateVersion.current)",
        subcommands: [
            InitCommand.self, PutCommand.self, GetCommand.self, ListCommand.self, WatchCommand.self,
            HistoryCommand.self, EditCommand.self, DeleteCommand.self, SnapshotCommand.self,
            EncryptCommand.self, DecryptCommand.self, InspectCommand.self, ExplainCommand.self, AuditCommand.self,
            VaultCommand.self, ExecCommand.self, WriterCommand.self, RosterCommand.self,
            DefaultsCommand.self, ContainerCommand.self, EntitlementsCommand.self, ImportCommand.self,
            DoctorCommand.self, RepairCommand.self,
        ])

    /// Parses and runs one command; every way out has a status of `ExitStatus`.
    static func main() {
        StandardStreams.prepare()
        SecretProcess.begin()
        requireArguments()
        do {
            let arguments = GlobalFlags.placed(ProgramArguments.all)
            if showTopic(arguments) { return }
            var command = try parseAsRoot(arguments)
            try command.run()
        } catch {
            end(for: error)
        }
    }

    /// Ends with status 71 where the system gave no arguments: an empty list would mean the help, and a success of a command
    /// that was never read. Linux puts one empty string into an empty list.
    private static func requireArguments() {
        guard ProgramArguments.all.isEmpty || ProgramArguments.all == [""] else { return }
        Failure.noArguments.report(asJSON: false)
        exit(Failure.noArguments.status)
    }

    /// Whether a topic was asked for, which is no command and has no options.
    private static func showTopic(_ arguments: [String]) -> Bool {
        do throws(Failure) {
            guard let text = try HelpTopic.asked(arguments) else { return false }
            try StandardStreams.print(text)
            return true
        } catch {
            error.report(asJSON: GlobalFlags.wantsJSON(ProgramArguments.all))
            exit(error.status)
        }
    }

    private static func end(for error: any Error) -> Never {
        if error is ExitCode { exit(withError: error) }
        if exitCode(for: error) == .success { end(showing: fullMessage(for: error)) }
        guard exitCode(for: error) == .validationFailure else { exit(withError: error) }
        // The parser's message goes on with the whole usage: a mistake gets one sentence and the way to the rest.
        let sentence = message(for: error).split(separator: "\n").first.map { String($0) } ?? "wrong usage"
        Failure(.usage, "usage", sentence, hint: "See \(helpCommand).")
            .report(asJSON: GlobalFlags.wantsJSON(ProgramArguments.all))
        exit(ExitStatus.usage)
    }

    /// Help, versions, scripts for shells and the words that those ask for: what cannot be written is an error.
    private static func end(showing text: String) -> Never {
        let isCompletion = CompletionText.isAsked(Array(ProgramArguments.withoutName))
        do throws(Failure) {
            try StandardStreams.print(isCompletion ? CompletionText.safe(text) : text)
        } catch {
            error.report(asJSON: GlobalFlags.wantsJSON(ProgramArguments.all))
            exit(error.status)
        }
        exit(.success)
    }

    /// The help of the innermost command that the arguments name.
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

/// A command of `sealctl`: it ends normally or with one `Failure`, which is reported in the form that was asked for.
protocol SealctlCommand: ParsableCommand {
    var output: OutputOptions { get }
    /// Takes the settings; before anything else is done.
    func prepare() throws(Failure)
    /// Does the command's work.
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

/// A process that holds secrets: nothing of its memory gets into a core file, and no program of the same user looks into
/// it.
enum SecretProcess {
    /// The limit on core files that the program was started with: for programs that it starts in turn.
    static var formerCoreLimit: rlimit { former.withLock { $0 } }
    private static let former = Mutex(rlimit())

    /// Called before anything secret is read. Lowering a limit and hiding are always allowed.
    static func begin() {
        var limit = rlimit()
        getrlimit(__rlimit_resource_t(RLIMIT_CORE.rawValue), &limit)
        former.withLock { [limit] in $0 = limit }
        limit.rlim_cur = 0
        setrlimit(__rlimit_resource_t(RLIMIT_CORE.rawValue), &limit)
        ProcessMemory.hide()
    }
}
