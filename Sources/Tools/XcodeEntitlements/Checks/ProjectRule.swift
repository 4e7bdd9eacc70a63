/// A kind of mistake that the check detects.
public struct ProjectRule: Sendable, Hashable {
    /// The stable identifier, never reused for another mistake: `ENT001`.
    public let id: String
    /// The identifier in words: `group-not-on-extension`.
    public let name: String
    /// The default severity; a single finding may differ.
    public let severity: FindingSeverity
    /// The mistake in a few words.
    public let title: String
    /// The consequences for the programs, as sentences.
    public let meaning: String
    /// The remedy as a sentence.
    public let remedy: String

    init(
        _ id: String, _ name: String, _ severity: FindingSeverity, _ title: String, meaning: String, remedy: String
    ) {
        self.id = id
        self.name = name
        self.severity = severity
        self.title = title
        self.meaning = meaning
        self.remedy = remedy
    }

    /// The rules by id.
    public static let all: [ProjectRule] = sharing + identifiers + files + profiles

    /// Returns the rule with an id or a name, in any case.
    public static func named(_ text: String) -> ProjectRule? {
        let wanted = text.lowercased()
        return all.first { $0.id.lowercased() == wanted || $0.name == wanted }
    }
}

/// Rules on the files of a project.
extension ProjectRule {
    static let files = [
        entitlementsMissing, otherSpelling, entitlementsRefused, entitlementsUnused, projectRefused, settingsMissing,
    ]

    static let entitlementsMissing = ProjectRule(
        "ENT020", "entitlements-missing", .error, "The entitlements file does not exist",
        meaning: "CODE_SIGN_ENTITLEMENTS names a file that does not exist: the target cannot be signed.",
        remedy: "Correct CODE_SIGN_ENTITLEMENTS, or add the file.")

    static let otherSpelling = ProjectRule(
        "ENT021", "other-spelling", .warning, "A path is spelled in another case than on the disk",
        meaning: "It is found on most Macs, but not on a file system that distinguishes upper and lower case.",
        remedy: "Write the path as on the disk.")

    static let entitlementsRefused = ProjectRule(
        "ENT022", "entitlements-refused", .error, "The entitlements file cannot be read",
        meaning: "It is not a property list, is too large, or a key has a wrong type.",
        remedy: "Write it again with Xcode's Signing & Capabilities.")

    static let entitlementsUnused = ProjectRule(
        "ENT023", "entitlements-unused", .note, "No target uses an entitlements file",
        meaning: "Changes of it have no effect. It may be left over, or used by a script.",
        remedy: "Remove it, or name it in CODE_SIGN_ENTITLEMENTS.")

    static let projectRefused = ProjectRule(
        "ENT024", "project-refused", .error, "The project cannot be read",
        meaning: "Its targets were not checked. After a merge it may contain conflict markers.",
        remedy: "Open it with Xcode, and repair it.")

    static let settingsMissing = ProjectRule(
        "ENT025", "settings-missing", .warning, "A settings file does not exist",
        meaning: """
            A configuration is based on an .xcconfig file, or includes one, that does not exist. \
            A note where a template of it exists.
            """,
        remedy: "Add the file, or make it first if a tool makes it (pod install, for example).")
}

/// Rules on provisioning profiles.
extension ProjectRule {
    static let profiles = [
        groupNotInProfile, accessGroupNotInProfile, keyValueStoreNotInProfile, profileExpired, profileNotYetValid,
        profileOfOtherTeam, profileOfOtherApp, profileCertificate, profileRefused, profileUnused,
        profileSignature,
    ]

    static let groupNotInProfile = ProjectRule(
        "ENT030", "group-not-in-profile", .error, "A group is in the entitlements but not in the profile",
        meaning: "Signing fails, or the system does not start the program: a profile must allow each group.",
        remedy: "Add the group to the app's identifier in the developer account, and download the profile again.")

    static let accessGroupNotInProfile = ProjectRule(
        "ENT031", "access-group-not-in-profile", .error, "The profile does not allow a keychain access group",
        meaning: "A profile mostly allows every group of its team (TEAMID.*); this one is outside.",
        remedy: "Use the prefix of the profile's team: $(AppIdentifierPrefix).")

    static let keyValueStoreNotInProfile = ProjectRule(
        "ENT032", "key-value-store-not-in-profile", .error, "The profile does not allow the key-value store",
        meaning: "The store's identifier must begin with the prefix in the profile.",
        remedy: "Use $(TeamIdentifierPrefix), and switch the iCloud capability on for the app's identifier.")

    static let profileExpired = ProjectRule(
        "ENT033", "profile-expired", .error, "The profile has expired",
        meaning: "Nothing can be signed with it, and development builds signed with it no longer start.",
        remedy: "Create it again in the developer account, or let Xcode manage it.")

    static let profileNotYetValid = ProjectRule(
        "ENT034", "profile-not-yet-valid", .warning, "The profile begins in the future",
        meaning: "It was made by a clock that is ahead of this one.",
        remedy: "Check the clock (timedatectl).")

    static let profileOfOtherTeam = ProjectRule(
        "ENT035", "profile-of-other-team", .error, "The profile belongs to another team",
        meaning: "The target is signed for one team and its profile belongs to another.",
        remedy: "Use a profile of the team in DEVELOPMENT_TEAM, or correct that setting.")

    static let profileOfOtherApp = ProjectRule(
        "ENT036", "profile-of-other-app", .error, "The profile is for another app",
        meaning:
            "The target names the profile, and the profile's App ID does not cover the target's bundle identifier.",
        remedy: "Create a profile for the target's own identifier: an extension has its own.")

    static let profileCertificate = ProjectRule(
        "ENT037", "profile-certificate", .warning, "A certificate of the profile is not valid",
        meaning: "It has expired or begins in the future. An error if the profile has no other valid certificate.",
        remedy: "Renew the certificate, then create the profile again.")

    static let profileRefused = ProjectRule(
        "ENT038", "profile-refused", .error, "The profile cannot be read",
        meaning: "It is not a signed property list, or it is damaged.",
        remedy: "Download it again.")

    static let profileUnused = ProjectRule(
        "ENT039", "profile-unused", .note, "A profile matches no target",
        meaning:
            "Neither its name nor its App ID belongs to an examined target; nothing was compared with it.",
        remedy: "Add its project to the check, or remove it.")

    static let profileSignature = ProjectRule(
        "ENT040", "profile-signature", .error, "The profile's signature is invalid",
        meaning:
            "Apple did not sign it, or it was changed after signing. Only a build with the signature check finds this.",
        remedy: "Download it again.")
}

/// Rules on identifiers.
extension ProjectRule {
    static let identifiers = [
        malformedGroup, unregisteredForm, accessGroupWithoutTeam, malformedAccessGroup, wildcard, otherTeam, duplicate,
        undefinedSetting, emptyList, accessGroupNotOnExtension,
    ]

    static let malformedGroup = ProjectRule(
        "ENT010", "malformed-group", .error, "An app group's identifier breaks the rules",
        meaning: "No such group can be registered, or the system looks for another name than the intended one.",
        remedy: "Write group.<name>, for example group.com.example.app.")

    static let unregisteredForm = ProjectRule(
        "ENT011", "unregistered-form", .error, "A group of the macOS form on another platform",
        meaning: "<team identifier>.<name> needs no registration, and exists on macOS only; other platforms refuse it.",
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
        meaning: "It has characters that identifiers do not have, such as a space or a slash, or is too long.",
        remedy: "Use letters, digits, dots, hyphens and underscores.")

    static let wildcard = ProjectRule(
        "ENT014", "wildcard", .error, "A wildcard in entitlements",
        meaning: "A profile may allow TEAMID.*; a program must name the groups that it uses.",
        remedy: "Write each group with its full name.")

    static let otherTeam = ProjectRule(
        "ENT015", "other-team", .warning, "An identifier begins with another team than the target's",
        meaning: """
            The entitlements contain a team identifier that is not the signing team's. It is right only for \
            accounts that have an older identifier prefix as well.
            """,
        remedy: "Write $(AppIdentifierPrefix) in place of the team identifier.")

    static let duplicate = ProjectRule(
        "ENT016", "duplicate", .note, "An identifier is listed twice",
        meaning: "The duplicate has no effect; usually one of the two was meant to be another identifier.",
        remedy: "Remove one, or correct it.")

    static let undefinedSetting = ProjectRule(
        "ENT017", "undefined-setting", .warning, "A build setting that no configuration defines",
        meaning: """
            Xcode replaces a setting without a value by an empty text, without an error: the identifier is not the one \
            that is shown. A note if a settings file that may define it is missing, or if there is no project.
            """,
        remedy: "Define the setting, or correct its name.")

    static let emptyList = ProjectRule(
        "ENT018", "empty-list", .note, "A list of groups without a group",
        meaning: "The capability is switched on and has no group: the program is in no group.",
        remedy: "Add the group, or remove the capability.")

    static let accessGroupNotOnExtension = ProjectRule(
        "ENT019", "access-group-not-on-extension", .note,
        "The app has a keychain access group that its extension lacks",
        meaning: "The extension does not find the keychain items that the app stores there.",
        remedy: "Add the group to the extension's Keychain Sharing, if it is to read them.")
}

/// Rules on the items that an app and its parts share.
extension ProjectRule {
    static let sharing = [
        groupNotOnExtension, groupNotOnApp, namesAlmostEqual, configurationsDiffer, keyValueStoresDiffer, teamsDiffer,
        watchGroup, wideGroup, sandboxWithoutGroup,
    ]

    static let groupNotOnExtension = ProjectRule(
        "ENT001", "group-not-on-extension", .warning, "The app has a group that its extension lacks",
        meaning: """
            The extension has no access to the group's container: containerURL returns nil on iOS, UserDefaults of the \
            group are its own empty ones, and the system reports no error. A note if the two share another group.
            """,
        remedy: "Add the group to the extension's App Groups, unless it is to share nothing.")

    static let groupNotOnApp = ProjectRule(
        "ENT002", "group-not-on-app", .warning, "An extension has a group that its app lacks",
        meaning: """
            The app has no access to the group's container, so it never sees the extension's data there. A note if \
            the two share another group.
            """,
        remedy: "Add the group to the app's App Groups, or remove it from the extension.")

    static let namesAlmostEqual = ProjectRule(
        "ENT003", "names-almost-equal", .error, "Two names differ in case or by one letter",
        meaning: """
            Identifiers are compared byte for byte: programs with similar names share nothing. A warning if \
            they belong to different apps, to one app's configurations or platforms, or to one list.
            """,
        remedy: "Write the same name in both files.")

    static let configurationsDiffer = ProjectRule(
        "ENT004", "configurations-differ", .note, "Configurations of a target hold different groups",
        meaning: """
            A debug and a release build of the target see different containers, which is often meant. A warning if \
            one configuration has no group at all: a feature that works in one fails in the other.
            """,
        remedy: "Compare the entitlements files of the configurations.")

    static let keyValueStoresDiffer = ProjectRule(
        "ENT005", "key-value-stores-differ", .warning, "Parts of an app have different key-value stores",
        meaning: """
            Each identifier is a store of its own in iCloud: one part never sees the values that another part writes. \
            Xcode's default, with $(CFBundleIdentifier), gives each target its own.
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
            and no data is copied between the two automatically.
            """,
        remedy: "Send the data that the watch needs with WatchConnectivity, or through a server.")

    static let wideGroup = ProjectRule(
        "ENT008", "wide-group", .warning, "Three or more apps share a group",
        meaning: """
            Every program of a group reads and writes everything in it: the least secure app decides for all of them.
            """,
        remedy: "Use a group for the data that apps exchange, and a group of its own for each app's other data.")

    static let sandboxWithoutGroup = ProjectRule(
        "ENT009", "sandbox-without-group", .note, "A sandboxed app and its extension share no group",
        meaning: "On macOS each of them sees only its own container: they cannot exchange files.",
        remedy: "Add an app group to both, if they are to share anything.")
}
