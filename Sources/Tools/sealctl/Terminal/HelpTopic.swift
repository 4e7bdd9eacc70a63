internal import ArgumentParser

/// A page of help about something else than a command: `sealctl help TOPIC`.
enum HelpTopic: String, CaseIterable {
    case gettingStarted = "getting-started"
    case groups
    case keys
    case configuration
    case environment
    case exitStatus = "exit-status"
    case formats
    case auditing

    /// What `sealctl help` was asked for, if that is no command; nil leaves the arguments to the parser.
    ///
    /// - Throws: `Failure` `unknownTopic` for a word that is neither.
    static func asked(_ arguments: [String]) throws(Failure) -> String? {
        guard arguments.first == "help", arguments.count > 1, let word = arguments.dropFirst().first else { return nil }
        if word == "topics" { return list }
        if let topic = HelpTopic(rawValue: word) { return topic.text }
        let isCommand = Sealctl.configuration.subcommands.contains { $0.configuration.commandName == word }
        guard !isCommand, !word.hasPrefix("-"), word != "help" else { return nil }
        throw Failure(
            .usage, "unknownTopic", "there is no command and no topic \"\(word)\"",
            hint: "See sealctl --help for commands and sealctl help topics for topics.")
    }

    /// All topics, a line each.
    static var list: String {
        var lines = FieldList()
        for topic in allCases { lines.add(topic.rawValue, topic.title) }
        return lines.text
    }

    var title: String {
        switch self {
        case .gettingStarted: "the first record, in five commands"
        case .groups: "app groups, access groups, and where they lie"
        case .keys: "what opens a vault, and how to say it"
        case .configuration: "files with settings"
        case .environment: "variables"
        case .exitStatus: "how commands end"
        case .formats: "output for people and for programs"
        case .auditing: "looking for what is wrong with a container"
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
