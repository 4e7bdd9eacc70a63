internal import AppGroups
internal import KeyVault

/// The key slots of a group's vault, as far as their open part tells: no key is needed, and nothing is derived.
struct VaultSlots {
    let group: AppGroup
    let home: GroupsHome

    /// Passphrases that are cheap to guess; empty for a vault that cannot be read, which is said elsewhere.
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
