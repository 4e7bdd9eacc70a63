internal import AppGroups
internal import KeyVault
internal import SharedFiles
internal import SystemPackage

/// The access groups of member programs against the vaults that there are, as far as entitlements are at hand.
struct VaultEntitlements {
    let group: AppGroup
    let home: GroupsHome

    /// Empty where no member has entitlements: without them a program may use every vault of its user.
    var findings: [Finding] {
        let members = (try? GroupRegistry(group, in: home).members()) ?? []
        let held = members.compactMap { member in
            Self.entitlements(of: member).map { (member: member, entitlements: $0) }
        }
        return held.flatMap { withoutVault($0.entitlements, of: $0.member) } + heldByNobody(held.map(\.entitlements))
    }

    static func path(of member: GroupMember) -> String { "\(member.executablePath).entitlements" }

    /// Nil where there are none, or none that can be used, which is said elsewhere.
    private static func entitlements(of member: GroupMember) -> Entitlements? {
        (try? EntitlementsDocument.read(path: path(of: member))).flatMap { try? Entitlements($0) }
    }

    /// An app group's vault is made with its container.
    private func withoutVault(_ entitlements: Entitlements, of member: GroupMember) -> [Finding] {
        let missing = entitlements.accessGroups.filter { $0.teamIdentifier != nil && !hasVault($0) }
        guard let first = missing.first else { return [] }
        let place = FindingPlace(outside: Self.path(of: member), group: group.identifier)
        return [
            AuditCheck.entitlementsWithoutVault.finding(
                at: place, "\(member.applicationIdentifier) holds \(missing.map(\.identifier).listed()).",
                remedy: "Take what is not needed out of the file, or make the vault: "
                    + "sealctl vault create --access-group \(first)")
        ]
    }

    private func hasVault(_ group: AccessGroup) -> Bool {
        // One that cannot be looked at may be there.
        guard let directory = try? Directory.open(home.vaultsPath) else { return true }
        return (try? directory.attributes(group.identifier)) != nil
    }

    /// Vaults of the members' own teams that no member may use.
    private func heldByNobody(_ all: [Entitlements]) -> [Finding] {
        let teams = Set(all.flatMap(\.allAccessGroups).compactMap(\.teamIdentifier))
        let names = (try? Directory.open(home.vaultsPath).entries().map(\.name)) ?? []
        return names.sorted().compactMap { name in
            guard let vault = try? AccessGroup(name), let team = vault.teamIdentifier, teams.contains(team),
                !all.contains(where: { $0.holds(vault) })
            else { return nil }
            let place = FindingPlace(outside: home.vaultsPath.appending(name).string, group: group.identifier)
            return AuditCheck.vaultNotEntitled.finding(
                at: place, "No member of \(group.identifier) holds \(name).", confidence: .possible,
                remedy: "See which programs use it: sealctl vault log --access-group \(name)")
        }
    }
}
