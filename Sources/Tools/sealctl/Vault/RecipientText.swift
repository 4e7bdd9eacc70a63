internal import ArgumentParser
internal import KeyVault

/// A recipient as it was typed. It is checked when the command runs: the parser would repeat a text that it refuses, which
/// may be a secret identity by mistake.
struct RecipientText: ExpressibleByArgument, Sendable {
    static let help = ArgumentHelp("Somebody's recipient, sealed1…; may be given again.", valueName: "R")

    private let text: String

    init?(argument: String) { text = argument }

    /// - Throws: `Failure` `malformedIdentity`, without the text.
    func checked() throws(Failure) -> Recipient {
        try Failure.onVault { () throws(VaultError) in try Recipient(text) }
    }
}
