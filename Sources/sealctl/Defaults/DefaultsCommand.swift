internal import ArgumentParser

/// `sealctl defaults`.
struct DefaultsCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "defaults", abstract: "Read and write sealed defaults.", subcommands: [])
}
