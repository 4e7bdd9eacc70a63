internal import ArgumentParser

/// `sealctl entitlements`: what programs of Xcode projects share, without Xcode.
struct EntitlementsCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "entitlements", abstract: "Check an Xcode project's entitlements and profiles.",
        discussion: """
            Works on any machine, on the files of the project alone: no Xcode and no Mac are needed.

            Examples:
              sealctl entitlements check .
              sealctl entitlements show App/App.entitlements
              sealctl entitlements explain ENT001
            """,
        subcommands: [EntitlementsCheckCommand.self, EntitlementsShowCommand.self, EntitlementsExplainCommand.self])
}
