internal import ArgumentParser

/// A page of help about a subject other than a command: `sealctl help TOPIC`.
enum HelpTopic: String, CaseIterable {
    case gettingStarted = "getting-started"
    case groups
    case keys
    case configuration
    case environment
    case exitStatus = "exit-status"
    case formats
    case auditing

    /// Returns the requested topic, or `nil` to leave the arguments to the parser.
    ///
    /// - Throws: `Failure` `unknownTopic` for a word that is neither a topic nor a command.
    static func asked(_ arguments: [String]) throws(Failure) -> String? {
        guard arguments.first == "help", arguments.count > 1, let word = arguments.dropFirst().first else { return nil }
        if word == "topics" { return list }
        if let topic = HelpTopic(rawValue: word) { return topic.text }
        let isCommand = Sealctl.configuration.subcommands.contains { $0.configuration.commandName == word }
        guard !isCommand, !word.hasPrefix("-"), word != "help" else { return nil }
        throw Failure(
            .usage, "unknownTopic", "no command or topic is named \"\(word)\"",
            hint: "See sealctl --help for commands and sealctl help topics for topics.")
    }

    /// All topics, one per line.
    static var list: String {
        var lines = FieldList()
        for topic in allCases { lines.add(topic.rawValue, topic.title) }
        return lines.text
    }

    var title: String {
        switch self {
        case .gettingStarted: "the first record, in five commands"
        case .groups: "app groups, access groups, and their directories"
        case .keys: "the credentials of a vault, and how to state them"
        case .configuration: "files with settings"
        case .environment: "variables"
        case .exitStatus: "how commands end"
        case .formats: "output for users and for programs"
        case .auditing: "finding the faults of a container"
        }
    }

    var text: String {
        switch self {
        case .gettingStarted: TopicText.gettingStarted
        case .groups: TopicText.groups
        case .keys: TopicText.keys
        case .configuration: SettingText.configuration
        case .environment: SettingText.environment
        case .exitStatus: ExitStatusText.topic
        case .formats: TopicText.formats
        case .auditing: TopicText.auditing
        }
    }
}

/// Help texts that are longer than a line.
enum HelpText {
    static let root = """
        A record is JSON with a name and a schema version, sealed into a file of the group's container. A stream is \
        a file or pipe of any size. Results go to standard output, everything else to standard error.

        Examples:
          sealctl init --group group.com.example.app
          echo '{"signedIn":true}' | sealctl put auth - --expires-in 1h
          sealctl get auth
          sealctl encrypt -o backup.sealed backup.tar
          sealctl import file state.json --as state
          sealctl audit
          sealctl vault status
          sealctl exec --env DB_PASSWORD=db/ada -- ./server

        The examples after the first expect SEALCTL_GROUP to name the group.

        Exit status: 0 done, 1 audit findings, 36 vault locked, 44 not found, 45 exists already, 51 wrong passphrase, \
        key file or identity, 64 usage, 65 refused data, 66 no input file, 69 not now or not here, 70 internal fault, \
        71 system, 73 cannot create output, 74 input or output failed, 75 try again, 76 made by a newer version, \
        77 no permission, 78 unsafe modes or settings.

        See sealctl help topics for more: getting started, keys, configuration, environment, formats.
        """

    static let vault = """
        A vault is the keychain of one access group: sealing keys, and items that only programs of that group can \
        read. Any one of its key slots opens it. Unattended programs open it with a key file or a credential of their \
        unit; a person unlocks it once, for all of their programs.

        Examples:
          sealctl vault create --access-group ABCDE12345.com.example.app --passphrase
          sealctl vault unlock --for 15m
          sealctl vault status
          sealctl vault slot list
          sealctl vault rotate

        --passphrase, --passphrase-file, --passphrase-fd, --key-file, --identity or --credential state the credential \
        that opens the vault. Without one of them sealctl uses what is available: the group's key file, the unit's \
        credential, or the keys that the person has unlocked. A passphrase is never an argument.
        """
}
