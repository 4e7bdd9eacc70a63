internal import ArgumentParser

/// `sealctl container`.
struct ContainerCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "container", abstract: "Look after group containers.", subcommands: [])
}
