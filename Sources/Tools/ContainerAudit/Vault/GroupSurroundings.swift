internal import AppGroups
internal import KeyVault

/// What lies outside of a group's container and belongs to it: its vault, its key file, its registry and its programs.
struct GroupSurroundings {
    let group: AppGroup
    let home: GroupsHome
    let credential: VaultCredential
    /// Files of secret keys besides those at the usual place.
    let keyFiles: [String]

    /// What is wrong there; none of it needs a key.
    var findings: [Finding] {
        VaultFiles(group: group, home: home, credential: credential).findings
            + VaultSlots(group: group, home: home).findings + MemberPrograms(group: group, home: home).findings
            + UnprotectedKeys(group: group, home: home, stated: keyFiles).findings
            + VaultEntitlements(group: group, home: home).findings
    }
}
