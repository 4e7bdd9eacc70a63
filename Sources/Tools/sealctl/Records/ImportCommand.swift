internal import ArgumentParser

/// `sealctl import`.
struct ImportCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "import",
        abstract: "Move plaintext into sealed form.",
        discussion: """
            Each file is sealed, read back and compared, and only then removed. A command that was ended half-way is \
            run again and goes on. What is there already and differs is left as it is. Removed plaintext is not \
            erased: a disk may keep it. End the programs that still write it first.

            Examples:
              sealctl import file state.json --as state
              sealctl import defaults com.example.app.plist
              sealctl import container ~/plain --dry-run
            """,
        subcommands: [
            ImportAESGCMCommand.self, ImportDefaultsCommand.self, ImportFileCommand.self, ImportContainerCommand.self,
        ])
}
