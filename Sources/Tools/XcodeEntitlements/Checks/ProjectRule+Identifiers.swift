/// What identifiers look like.
extension ProjectRule {
    static let identifiers = [
        malformedGroup, unregisteredForm, accessGroupWithoutTeam, malformedAccessGroup, wildcard, otherTeam, duplicate,
        undefinedSetting, emptyList, accessGroupNotOnExtension,
    ]

    static let malformedGroup = ProjectRule(
        "ENT010", "malformed-group", .error, "An app group's identifier breaks the rules",
        meaning: "No such group can be registered, or the system looks for another name than the one that is meant.",
        remedy: "Write group.<name>, for example group.com.example.app.")

    static let unregisteredForm = ProjectRule(
        "ENT011", "unregistered-form", .error, "A group of the macOS form on another platform",
        meaning: "<team identifier>.<name> needs no registration, and is known on macOS only; elsewhere it is refused.",
        remedy: "Register a group.<name> and use it on every platform.")

    static let accessGroupWithoutTeam = ProjectRule(
        "ENT012", "access-group-without-team", .error, "A keychain access group has no team prefix",
        meaning: """
            Access groups begin with the prefix of the app's identifier; without it signing fails, or the keychain \
            answers errSecMissingEntitlement.
            """,
        remedy: "Write $(AppIdentifierPrefix) before the name.")

    static let malformedAccessGroup = ProjectRule(
        "ENT013", "malformed-access-group", .warning, "A keychain access group's name is unusual",
        meaning: "Its characters or length are not those of an identifier: a space, a slash, or too many of them.",
        remedy: "Use letters, digits, dots, hyphens and underscores.")

    static let wildcard = ProjectRule(
        "ENT014", "wildcard", .error, "A wildcard in entitlements",
        meaning: "A profile may allow TEAMID.*; a program has to name the groups that it uses.",
        remedy: "Write each group by its whole name.")

    static let otherTeam = ProjectRule(
        "ENT015", "other-team", .warning, "An identifier begins with another team than the target's",
        meaning: """
            A team identifier is written out in the entitlements and is not the one that signs. It is right only for \
            accounts that have an older identifier prefix as well.
            """,
        remedy: "Write $(AppIdentifierPrefix) in place of the team identifier.")

    static let duplicate = ProjectRule(
        "ENT016", "duplicate", .note, "An identifier is listed twice",
        meaning: "It changes nothing; mostly one of the two was meant to be another.",
        remedy: "Remove one, or correct it.")

    static let undefinedSetting = ProjectRule(
        "ENT017", "undefined-setting", .warning, "A build setting that no configuration defines",
        meaning: """
            Xcode puts nothing in the place of a setting without a value, and says nothing: the identifier is another \
            one than it looks. A note where a settings file that may define it is not there, or where there is no project.
            """,
        remedy: "Define the setting, or correct its name.")

    static let emptyList = ProjectRule(
        "ENT018", "empty-list", .note, "A list of groups without a group",
        meaning: "The capability is switched on and holds nothing: the program is in no group.",
        remedy: "Add the group, or remove the capability.")

    static let accessGroupNotOnExtension = ProjectRule(
        "ENT019", "access-group-not-on-extension", .note,
        "A keychain access group is on the app but not on its extension",
        meaning: "The extension does not find the keychain items that the app keeps there.",
        remedy: "Add the group to the extension's Keychain Sharing, if it is to read them.")
}
