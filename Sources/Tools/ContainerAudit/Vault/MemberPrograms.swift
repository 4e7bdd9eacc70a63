internal import AppGroups
internal import KeyVault
internal import PropertyLists
internal import SharedFiles
internal import SystemPackage

/// Checks the programs that the registry lists as members of a group against the entitlements beside them.
///
/// On Linux, entitlements are a check against mistakes: a program without entitlements can open every group, which is
/// not a fault.
struct MemberPrograms {
    let group: AppGroup
    let home: GroupsHome

    /// The findings; empty if no registry can be read, which is not a fault of the container.
    var findings: [Finding] {
        let registry = GroupRegistry(group, in: home)
        let members = (try? registry.members()) ?? []
        return gone(members, registry) + members.flatMap(entitlements)
    }

    private func gone(_ members: [GroupMember], _ registry: GroupRegistry) -> [Finding] {
        let gone = members.filter { !$0.isInstalled }
        guard !gone.isEmpty else { return [] }
        let place = FindingPlace(outside: registry.path, group: group.identifier)
        let names = gone.map(\.applicationIdentifier).listed()
        return [AuditCheck.memberGone.finding(at: place, "No file exists at the registered path: \(names).")]
    }

    private func entitlements(of member: GroupMember) -> [Finding] {
        let path = VaultEntitlements.path(of: member)
        let place = FindingPlace(outside: path, group: group.identifier)
        let document: EntitlementsDocument
        do throws(AppGroupError) { document = try EntitlementsDocument.read(path: path) } catch {
            guard error.code == .malformedEntitlements else { return [] }
            return [AuditCheck.entitlementsUnusable.finding(at: place, error.reason)]
        }
        let name = member.applicationIdentifier
        return holding(document, name, place) + wildcards(document, name, place) + debuggable(document, name, place)
    }

    /// Returns findings on a program's group. Settings that only the program's environment defines cannot be judged
    /// here.
    private func holding(_ document: EntitlementsDocument, _ name: String, _ place: FindingPlace) -> [Finding] {
        do throws(AppGroupError) {
            guard try !Entitlements(document).holds(group) else { return [] }
        } catch {
            guard error.code != .unresolvedVariable else { return [] }
            return [AuditCheck.entitlementsUnusable.finding(at: place, error.reason)]
        }
        return [
            AuditCheck.entitlementsWithoutGroup.finding(
                at: place, "\(name) does not contain \(group.identifier).",
                remedy: AuditCheck.entitlementsWithoutGroup.remedy.replacing("APPLICATION", with: name.shellQuoted))
        ]
    }

    private func wildcards(_ document: EntitlementsDocument, _ name: String, _ place: FindingPlace) -> [Finding] {
        let patterns = (document.keychainAccessGroups ?? []).filter { $0.hasSuffix("*") }
        guard !patterns.isEmpty else { return [] }
        return [
            AuditCheck.entitlementsWildcard.finding(at: place, "\(name) holds \(patterns.listed()).")
        ]
    }

    private func debuggable(_ document: EntitlementsDocument, _ name: String, _ place: FindingPlace) -> [Finding] {
        let keys = ["get-task-allow", "com.apple.security.get-task-allow"]
        guard let key = keys.first(where: { document[$0] == .bool(true) }) else { return [] }
        return [AuditCheck.entitlementsDebuggable.finding(at: place, "\(name) has \(key).")]
    }
}

extension Sequence<String> {
    /// Returns the first elements for a sentence, and the number of the others.
    func listed(_ most: Int = 8) -> String {
        let all = Array(self)
        let shown = all.prefix(most).joined(separator: ", ")
        return all.count > most ? "\(shown) and \(all.count - most) more" : shown
    }
}

/// Checks the access groups of member programs against the existing vaults, as far as entitlements are available.
struct VaultEntitlements {
    let group: AppGroup
    let home: GroupsHome

    /// The findings; empty if no member has entitlements, because such a program may use every vault of its user.
    var findings: [Finding] {
        let members = (try? GroupRegistry(group, in: home).members()) ?? []
        let held = members.compactMap { member in
            Self.entitlements(of: member).map { (member: member, entitlements: $0) }
        }
        return held.flatMap { withoutVault($0.entitlements, of: $0.member) } + withoutHolder(held.map(\.entitlements))
    }

    static func path(of member: GroupMember) -> String { "\(member.executablePath).entitlements" }

    /// Returns the entitlements of a member, or `nil` if they are missing, or unusable, which is a separate finding.
    private static func entitlements(of member: GroupMember) -> Entitlements? {
        (try? EntitlementsDocument.read(path: path(of: member))).flatMap { try? Entitlements($0) }
    }

    /// Returns the finding on access groups without a vault. An app group's vault is created with its container.
    private func withoutVault(_ entitlements: Entitlements, of member: GroupMember) -> [Finding] {
        let missing = entitlements.accessGroups.filter { $0.teamIdentifier != nil && !hasVault($0) }
        guard let first = missing.first else { return [] }
        let place = FindingPlace(outside: Self.path(of: member), group: group.identifier)
        return [
            AuditCheck.entitlementsWithoutVault.finding(
                at: place, "\(member.applicationIdentifier) holds \(missing.map(\.identifier).listed()).",
                remedy: "Remove groups that are not needed from the file, or create the vault: "
                    + "sealctl vault create --access-group \(first)")
        ]
    }

    private func hasVault(_ group: AccessGroup) -> Bool {
        // A vault that cannot be examined may exist.
        guard let directory = try? Directory.open(home.vaultsPath) else { return true }
        return (try? directory.attributes(group.identifier)) != nil
    }

    /// Returns findings on vaults of the members' own teams that no member may use.
    private func withoutHolder(_ all: [Entitlements]) -> [Finding] {
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
