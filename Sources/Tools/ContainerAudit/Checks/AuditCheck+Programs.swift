// Checks of the group's programs by the registry and their entitlements.
extension AuditCheck {
    static let entitlementsWithoutGroup = AuditCheck(
        id: "entitlements.group-missing", severity: .medium, title: "A member's entitlements do not hold the group",
        meaning:
            "The program is registered as a member, and by its own entitlements it may not open the container: one "
            + "of the two is wrong.",
        remedy: "See what it holds (sealctl entitlements show {file}), then add {group} there or take the program out: "
            + "sealctl container unregister --group {group} APPLICATION",
        references: [Reference.interaction, Reference.testPermissions, Reference.testExtensions])

    static let entitlementsUnusable = AuditCheck(
        id: "entitlements.unusable", severity: .medium, title: "A member's entitlements cannot be used",
        meaning: "They are damaged or hold identifiers that break the rules: the program refuses to open any group.",
        remedy: "Mend the file: sealctl entitlements show {file}",
        references: [Reference.interaction, Reference.testPermissions])

    static let entitlementsWildcard = AuditCheck(
        id: "entitlements.wildcard", severity: .low, title: "A member may use every access group of its team",
        meaning: "A pattern in keychain-access-groups reaches the vaults of programs that have nothing to do with it.",
        remedy: "Name the groups that it needs instead: sealctl entitlements show {file}",
        references: [Reference.interaction, Reference.keys, Reference.testPermissions])

    static let entitlementsDebuggable = AuditCheck(
        id: "entitlements.debuggable", severity: .medium, title: "A member lets debuggers in",
        meaning:
            "With get-task-allow other programs of the user may read its memory, keys included, on Apple's systems.",
        remedy: "Take get-task-allow out of what is released: sealctl entitlements show {file}",
        references: [Reference.dynamicAnalysis, Reference.testDebuggable])

    static let entitlementsWithoutVault = AuditCheck(
        id: "entitlements.vault-missing", severity: .info, title: "A member may use an access group that has no vault",
        meaning: "Its entitlements name a keychain access group, and nobody has made a vault for it here: the name is "
            + "wrong, or not needed.",
        remedy: "Take what is not needed out of the file, or make the vault: sealctl vault create --access-group GROUP",
        references: [Reference.keys, Reference.testPermissions])

    static let vaultNotEntitled = AuditCheck(
        id: "vault.not-entitled", severity: .info, title: "A vault that no member program may use",
        meaning: "It belongs to the members' team, and by the entitlements that are at hand none of them may open it: "
            + "it is another group's, or was left behind.",
        remedy: "See which programs use it: sealctl vault log --access-group GROUP",
        references: [Reference.keys, Reference.testPermissions])

    static let memberGone = AuditCheck(
        id: "registry.member-gone", severity: .info, title: "A member program is not installed any more",
        meaning: "The registry keeps the container for a program that is gone; another one that is put in its place "
            + "would be taken for it.",
        remedy: "sealctl container unregister --gone --group {group}",
        references: [Reference.interaction])

    static let copyDiffers = AuditCheck(
        id: "registry.copy-differs", severity: .info,
        title: "The container's copy of the registry is not the registry's",
        meaning: "Members and quota there are others: the registry was edited, or a member changed the copy. The next "
            + "program that opens the container for writing puts it right.",
        remedy: "See what the registry says: sealctl container members --group {group}",
        references: [Reference.interaction, Reference.tampering])

    static let programs = [
        entitlementsWithoutGroup, entitlementsUnusable, entitlementsWildcard, entitlementsDebuggable,
        entitlementsWithoutVault, vaultNotEntitled, memberGone, copyDiffers,
    ]
}
