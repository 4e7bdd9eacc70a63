internal import AppGroups
internal import KeyVault

/// Identities, writer keys and team keys whose files no passphrase protects: at the usual place, and those that are stated.
struct UnprotectedKeys {
    let group: AppGroup
    let home: GroupsHome
    let stated: [String]

    var findings: [Finding] {
        let slots = UnprotectedKeyFile.slots(of: AccessGroup(group), in: home)
        return UnprotectedKeyFile.all(stated: stated, in: home).map { file in
            let (detail, severity, remedy) = Self.judgement(of: file, file.reachesWhenUnlocked(slots))
            return AuditCheck.keyFileUnprotected.finding(
                at: FindingPlace(outside: file.path, group: group.identifier), detail, severity: severity,
                remedy: remedy)
        }
    }

    /// What the key opens decides; nil stands for the check's own severity and remedy.
    private static func judgement(
        of file: UnprotectedKeyFile, _ reachesWhenUnlocked: Bool?
    ) -> (detail: String, severity: Severity?, remedy: String?) {
        switch file.kind {
        case .identity where reachesWhenUnlocked == true:
            ("It is an identity and reaches what is available when unlocked.", nil, nil)
        case .identity where reachesWhenUnlocked == nil:
            (
                "It is an identity and may reach what is available when unlocked: the vault's slots cannot be read.",
                nil, nil
            )
        case .identity: ("It is an identity.", .low, nil)
        case .writerKey:
            (
                "It is a writer key.", .low,
                "Keep it where only its program can read it, or make a protected one: sealctl writer new --protected NEW"
            )
        case .teamKey:
            (
                "It is a team key.", nil,
                "Where it is the group's, name a protected one as the next team key: "
                    + "sealctl roster sign --group {group} --team-key {file} --succeeded-by NEW"
            )
        }
    }
}
