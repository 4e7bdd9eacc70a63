internal import ArgumentParser

/// `sealctl import`.
struct ImportCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "import", abstract: "Move plaintext into sealed form.", subcommands: [])
}
