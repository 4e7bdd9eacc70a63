internal import ArgumentParser

/// `sealctl container`.
struct ContainerCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "container",
        abstract: "Look after group containers: where they lie, who is a member, how much they hold.",
        discussion: """
            A program's package registers it when it is installed and takes it out when it is removed. A container that \
            is given up goes to the trash; nothing is deleted there unasked.

            Examples:
              sealctl container list
              sealctl container register com.example.app /usr/bin/app
              sealctl container usage --group group.com.example.app
            """,
        subcommands: [
            ContainerListCommand.self, ContainerPathCommand.self, ContainerMembersCommand.self,
            ContainerRegisterCommand.self, ContainerUnregisterCommand.self, ContainerResetCommand.self,
            ContainerUsageCommand.self, ContainerQuotaCommand.self, ContainerTrashCommand.self,
        ])
}
