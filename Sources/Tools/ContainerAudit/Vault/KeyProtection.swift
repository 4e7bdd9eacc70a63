internal import AppGroups
internal import KeyVault

/// Checks the key slots of a group's vault by its unencrypted part. No key is required, and nothing is derived.
struct VaultSlots {
    let group: AppGroup
    let home: GroupsHome

    /// The findings on passphrases that are cheap to guess; empty for an unreadable vault, which is a separate finding.
    var findings: [Finding] {
        let vault = AccessGroup(group)
        guard let slots = try? Vault.status(vault, in: home).slots else { return [] }
        let place = FindingPlace(outside: VaultPlace(vault, in: home).path, group: group.identifier)
        return slots.compactMap { slot in
            guard let costs = slot.costs, !PassphraseFloor.isReached(by: costs) else { return nil }
            return AuditCheck.weakPassphraseCosts.finding(
                at: place,
                "One try at its slot \(slot.id) costs \(costs); \(PassphraseFloor.description), are the least.",
                remedy: "\(AuditCheck.weakPassphraseCosts.remedy) \(slot.id)")
        }
    }
}

/// The least cost of one passphrase guess.
///
/// Source: OWASP Cheat Sheet Series, "Password Storage Cheat Sheet", section Argon2id: any of these with one lane.
/// Their costs for an attacker are about the same.
enum PassphraseFloor {
    private static let choices: [(memoryKiB: Int, passes: Int)] = [
        (47104, 1), (19456, 2), (12288, 3), (9216, 4), (7168, 5),
    ]

    /// The minimum for display.
    static let description = "2 passes over 19 MiB, or as much"

    /// Returns whether costs reach one of the choices.
    static func isReached(by costs: PassphraseCosts) -> Bool {
        choices.contains { costs.memoryKiB >= $0.memoryKiB && costs.passes >= $0.passes }
    }
}

/// Identities, writer keys and team keys without a passphrase: at the usual place, and the given ones.
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

    /// Returns the judgement of a key file by the key's reach. `nil` means the check's own severity and remedy.
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
