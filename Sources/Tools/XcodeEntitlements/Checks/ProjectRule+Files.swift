/// The files of a project.
extension ProjectRule {
    static let files = [
        entitlementsMissing, otherSpelling, entitlementsRefused, entitlementsUnused, projectRefused, settingsMissing,
    ]

    static let entitlementsMissing = ProjectRule(
        "ENT020", "entitlements-missing", .error, "The entitlements file is not there",
        meaning: "CODE_SIGN_ENTITLEMENTS names a file that does not exist: the target cannot be signed.",
        remedy: "Correct CODE_SIGN_ENTITLEMENTS, or add the file.")

    static let otherSpelling = ProjectRule(
        "ENT021", "other-spelling", .warning, "A path is spelled in another case than on the disk",
        meaning: "It is found on most Macs and on no file system that tells A from a.",
        remedy: "Write the path as the disk has it.")

    static let entitlementsRefused = ProjectRule(
        "ENT022", "entitlements-refused", .error, "The entitlements file cannot be read",
        meaning: "It is no property list, too large, or a key holds another type than it has to.",
        remedy: "Write it anew with Xcode's Signing & Capabilities.")

    static let entitlementsUnused = ProjectRule(
        "ENT023", "entitlements-unused", .note, "No target uses an entitlements file",
        meaning: "A change in it changes nothing. It may be left over, or used by a script.",
        remedy: "Remove it, or name it in CODE_SIGN_ENTITLEMENTS.")

    static let projectRefused = ProjectRule(
        "ENT024", "project-refused", .error, "The project cannot be read",
        meaning: "Its targets were not checked. After a merge it may hold marks of a conflict.",
        remedy: "Open it with Xcode, and repair it.")

    static let settingsMissing = ProjectRule(
        "ENT025", "settings-missing", .warning, "A settings file is not there",
        meaning: """
            A configuration is based on an .xcconfig file, or includes one, that does not exist. \
            A note where a template of it lies there.
            """,
        remedy: "Add the file, or make it first if a tool makes it (pod install, for example).")
}
