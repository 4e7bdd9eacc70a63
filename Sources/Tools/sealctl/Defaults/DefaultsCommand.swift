internal import ArgumentParser

/// `sealctl defaults`: the commands of macOS' `defaults`, over sealed suites.
struct DefaultsCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "defaults",
        abstract: "Read and write sealed defaults, in the habits of macOS' defaults.",
        discussion: """
            SUITE is a suite of the app group that --group or $SEALCTL_GROUP names. The identifier of a group is a suite \
            as well: that group's own, for which nothing else has to be named.

            Examples:
              sealctl defaults write group.com.example.app theme dark
              sealctl defaults write group.com.example.app limits -dict count -int 5
              sealctl defaults read group.com.example.app
              sealctl defaults find theme
            """,
        subcommands: [
            DefaultsReadCommand.self, DefaultsReadTypeCommand.self, DefaultsWriteCommand.self,
            DefaultsDeleteCommand.self, DefaultsRenameCommand.self, DefaultsFindCommand.self,
            DefaultsImportCommand.self, DefaultsExportCommand.self, DefaultsDomainsCommand.self,
        ])
}
