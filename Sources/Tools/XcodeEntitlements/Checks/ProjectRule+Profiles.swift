/// Provisioning profiles.
extension ProjectRule {
    static let profiles = [
        groupNotInProfile, accessGroupNotInProfile, keyValueStoreNotInProfile, profileExpired, profileNotYetValid,
        profileOfOtherTeam, profileOfOtherApp, profileCertificate, profileRefused, profileUnused,
        profileSignature,
    ]

    static let groupNotInProfile = ProjectRule(
        "ENT030", "group-not-in-profile", .error, "A group is in the entitlements but not in the profile",
        meaning: "Signing fails, or the system does not start the program: a profile has to allow each group.",
        remedy: "Add the group to the app's identifier in the developer account, and download the profile again.")

    static let accessGroupNotInProfile = ProjectRule(
        "ENT031", "access-group-not-in-profile", .error, "The profile does not allow a keychain access group",
        meaning: "A profile mostly allows every group of its team (TEAMID.*); this one is outside.",
        remedy: "Use the prefix of the profile's team: $(AppIdentifierPrefix).")

    static let keyValueStoreNotInProfile = ProjectRule(
        "ENT032", "key-value-store-not-in-profile", .error, "The profile does not allow the key-value store",
        meaning: "The store's identifier has to begin as the profile says.",
        remedy: "Use $(TeamIdentifierPrefix), and switch the iCloud capability on for the app's identifier.")

    static let profileExpired = ProjectRule(
        "ENT033", "profile-expired", .error, "The profile has expired",
        meaning: "Nothing can be signed with it, and development builds that were no longer start.",
        remedy: "Make it anew in the developer account, or let Xcode manage it.")

    static let profileNotYetValid = ProjectRule(
        "ENT034", "profile-not-yet-valid", .warning, "The profile begins in the future",
        meaning: "It was made by a clock that is ahead of this one.",
        remedy: "Check the clock (timedatectl).")

    static let profileOfOtherTeam = ProjectRule(
        "ENT035", "profile-of-other-team", .error, "The profile belongs to another team",
        meaning: "The target is signed for one team and its profile is another's.",
        remedy: "Use a profile of the team in DEVELOPMENT_TEAM, or correct that.")

    static let profileOfOtherApp = ProjectRule(
        "ENT036", "profile-of-other-app", .error, "The profile is for another app",
        meaning:
            "The target names the profile, and the profile's App ID does not cover the target's bundle identifier.",
        remedy: "Make a profile for the target's own identifier: an extension has one of its own.")

    static let profileCertificate = ProjectRule(
        "ENT037", "profile-certificate", .warning, "A certificate of the profile is not valid",
        meaning: "It has expired or begins in the future. An error where no other one is left to sign with.",
        remedy: "Renew the certificate, then make the profile anew.")

    static let profileRefused = ProjectRule(
        "ENT038", "profile-refused", .error, "The profile cannot be read",
        meaning: "It is no signed property list, or one that is damaged.",
        remedy: "Download it again.")

    static let profileUnused = ProjectRule(
        "ENT039", "profile-unused", .note, "A profile fits no target",
        meaning:
            "Neither its name nor its App ID belongs to a target that was looked at; nothing was compared with it.",
        remedy: "Give the project that it belongs to, or remove it.")

    static let profileSignature = ProjectRule(
        "ENT040", "profile-signature", .error, "The profile's signature does not hold",
        meaning: "Apple did not sign it, or it was changed since. Only a build with the signature check looks.",
        remedy: "Download it again.")
}
