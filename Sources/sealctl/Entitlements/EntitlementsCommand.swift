internal import ArgumentParser

/// `sealctl entitlements`.
struct EntitlementsCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "entitlements", abstract: "Check an Xcode project's entitlements and profiles.", subcommands: [])
}
