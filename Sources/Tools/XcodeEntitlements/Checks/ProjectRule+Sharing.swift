/// What an app and its parts share.
extension ProjectRule {
    static let sharing = [
        groupNotOnExtension, groupNotOnApp, namesAlmostEqual, configurationsDiffer, keyValueStoresDiffer, teamsDiffer,
        watchGroup, wideGroup, sandboxWithoutGroup,
    ]

    static let groupNotOnExtension = ProjectRule(
        "ENT001", "group-not-on-extension", .warning, "A group is on the app but not on its extension",
        meaning: """
            The extension has no access to the group's container: containerURL returns nil on iOS, UserDefaults of the \
            group are its own empty ones, and nothing says so. A note where the two share another group.
            """,
        remedy: "Add the group to the extension's App Groups, unless it is to share nothing.")

    static let groupNotOnApp = ProjectRule(
        "ENT002", "group-not-on-app", .warning, "A group is on an extension but not on its app",
        meaning: """
            What the extension puts into the group's container never reaches the app. A note where the two share \
            another group.
            """,
        remedy: "Add the group to the app's App Groups, or remove it from the extension.")

    static let namesAlmostEqual = ProjectRule(
        "ENT003", "names-almost-equal", .error, "Two names differ in case or by one letter",
        meaning: """
            Identifiers are compared byte for byte: programs with names that look alike share nothing. A warning where \
            they belong to different apps, to one app's configurations or platforms, or to one list.
            """,
        remedy: "Write the same name in both files.")

    static let configurationsDiffer = ProjectRule(
        "ENT004", "configurations-differ", .note, "Configurations of a target hold different groups",
        meaning: """
            A debug and a release build of the target see different containers, which is often meant. A warning where \
            one configuration has no group at all: what works in the one fails in the other.
            """,
        remedy: "Compare the entitlements files of the configurations.")

    static let keyValueStoresDiffer = ProjectRule(
        "ENT005", "key-value-stores-differ", .warning, "Parts of an app have different key-value stores",
        meaning: """
            Each identifier is a store of its own in iCloud: what one part writes, the other never sees. Xcode's default, \
            with $(CFBundleIdentifier), gives each target its own.
            """,
        remedy:
            "Write the app's identifier in the entitlements of each part, such as $(TeamIdentifierPrefix)com.example.app."
    )

    static let teamsDiffer = ProjectRule(
        "ENT006", "teams-differ", .error, "An app and its extension are signed by different teams",
        meaning: "An app is installed only if everything in it is signed by one team, and groups belong to a team.",
        remedy: "Set DEVELOPMENT_TEAM once, for the project.")

    static let watchGroup = ProjectRule(
        "ENT007", "watch-group", .note, "A watch app holds a group of the phone's app",
        meaning: """
            The group joins the programs on each device. Its container on the watch is another one than on the phone, \
            and nothing moves between the two by itself.
            """,
        remedy: "Send what the watch needs with WatchConnectivity, or through a server.")

    static let wideGroup = ProjectRule(
        "ENT008", "wide-group", .warning, "Three or more apps share a group",
        meaning: """
            Every program of a group reads and writes everything in it: the weakest of the apps decides for all of them.
            """,
        remedy: "Give apps that exchange something a group for that, and each app one of its own for the rest.")

    static let sandboxWithoutGroup = ProjectRule(
        "ENT009", "sandbox-without-group", .note, "A sandboxed app and its extension share no group",
        meaning: "On macOS each of them sees its own container only: they can exchange no files.",
        remedy: "Add an app group to both, if they are to share anything.")
}
