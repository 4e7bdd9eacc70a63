internal import ArgumentParser
internal import Glibc

/// The command line of SealedState.
@main
struct Sealctl: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "sealctl",
        abstract: "Sealed state that several programs share: records, streams, and what lies in a group's container.",
        discussion: HelpText.root,
        version: "sealctl \(SealedStateVersion.current)",
        subcommands: [
            InitCommand.self, PutCommand.self, GetCommand.self, ListCommand.self, DeleteCommand.self,
            EncryptCommand.self, DecryptCommand.self, InspectCommand.self, AuditCommand.self,
        ])

    /// Parses and runs one command; every way out has a status of `ExitStatus`.
    static func main() {
        StandardStreams.prepare()
        do {
            var command = try parseAsRoot()
            try command.run()
        } catch {
            end(for: error)
        }
    }

    private static func end(for error: any Error) -> Never {
        guard !(error is ExitCode), exitCode(for: error) == .validationFailure else { exit(withError: error) }
        if CommandLine.arguments.contains("--json") {
            Failure(.usage, "usage", message(for: error), hint: "Try sealctl help.").report(asJSON: true)
        } else {
            // The parser's own form, which shows the usage as well, under the name that all other errors have.
            let text = fullMessage(for: error)
            StandardStreams.say(text.hasPrefix("Error: ") ? "sealctl: \(text.dropFirst(7))" : text)
        }
        exit(ExitStatus.usage)
    }

    private static func exit(_ status: ExitStatus) -> Never { Glibc.exit(status.rawValue) }
}

/// A command of `sealctl`: it ends normally or with one `Failure`, which is reported in the form that was asked for.
protocol SealctlCommand: ParsableCommand {
    var output: OutputOptions { get }
    /// Does the command's work.
    func perform() throws(Failure)
}

extension SealctlCommand {
    func run() throws {
        do throws(Failure) { try perform() } catch {
            error.report(asJSON: output.json)
            throw ExitCode(error.status.rawValue)
        }
    }
}
