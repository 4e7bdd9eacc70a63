// Checks of the group's programs by the registry and their entitlements.
extension AuditCheck {
    static let entitlementsWithoutGroup = AuditCheck(
        id: "entitlements.group-missing", severity: .medium, title: "A member's entitlements do not contain the group",
        meaning:
            "The program is registered as a member, but by its own entitlements it may not open the container. "
            + "Either the registration or the entitlements are wrong.",
        remedy: "See its groups (sealctl entitlements show {file}), then add {group} there or remove the program: "
            + "sealctl container unregister --group {group} APPLICATION",
        references: [Reference.interaction, Reference.testPermissions, Reference.testExtensions])

    static let entitlementsUnusable = AuditCheck(
        id: "entitlements.unusable", severity: .medium, title: "A member's entitlements cannot be used",
        meaning: "They are damaged or contain invalid identifiers. The program refuses to open any group.",
        remedy: "Correct the file: sealctl entitlements show {file}",
        references: [Reference.interaction, Reference.testPermissions])

    static let entitlementsWildcard = AuditCheck(
        id: "entitlements.wildcard", severity: .low, title: "A member may use every access group of its team",
        meaning: "A pattern in keychain-access-groups gives access to the vaults of unrelated programs.",
        remedy: "Name the groups that it needs instead: sealctl entitlements show {file}",
        references: [Reference.interaction, Reference.keys, Reference.testPermissions])

    static let entitlementsDebuggable = AuditCheck(
        id: "entitlements.debuggable", severity: .medium, title: "A member allows debuggers",
        meaning:
            "With get-task-allow, other programs of the user may read its memory, keys included, on Apple's "
            + "systems.",
        remedy: "Remove get-task-allow from released programs: sealctl entitlements show {file}",
        references: [Reference.dynamicAnalysis, Reference.testDebuggable])

    static let entitlementsWithoutVault = AuditCheck(
        id: "entitlements.vault-missing", severity: .info, title: "A member may use an access group that has no vault",
        meaning:
            "Its entitlements name a keychain access group without a vault on this machine. Either the name is "
            + "wrong, or the group is not needed.",
        remedy: "Remove groups that are not needed from the file, or create the vault: "
            + "sealctl vault create --access-group GROUP",
        references: [Reference.keys, Reference.testPermissions])

    static let vaultNotEntitled = AuditCheck(
        id: "vault.not-entitled", severity: .info, title: "A vault that no member program may use",
        meaning:
            "It belongs to the members' team, but by the available entitlements no member may open it. Either it "
            + "belongs to another group, or it was left behind.",
        remedy: "See which programs use it: sealctl vault log --access-group GROUP",
        references: [Reference.keys, Reference.testPermissions])

    static let memberGone = AuditCheck(
        id: "registry.member-gone", severity: .info, title: "A member program is not installed any more",
        meaning:
            "The registry keeps the container for a program that does not exist any more. Another program at the "
            + "same path would be taken for it.",
        remedy: "sealctl container unregister --gone --group {group}",
        references: [Reference.interaction])

    static let copyDiffers = AuditCheck(
        id: "registry.copy-differs", severity: .info,
        title: "The container's copy of the registry differs from the registry",
        meaning:
            "It has other members or another quota. Either the registry was edited, or a member changed the copy. "
            + "The next program that opens the container for writing corrects the copy.",
        remedy: "See the members in the registry: sealctl container members --group {group}",
        references: [Reference.interaction, Reference.tampering])

    static let programs = [
        entitlementsWithoutGroup, entitlementsUnusable, entitlementsWildcard, entitlementsDebuggable,
        entitlementsWithoutVault, vaultNotEntitled, memberGone, copyDiffers,
    ]
}
