internal import AppGroups
internal import PropertyLists
internal import SharedFiles

/// The programs that the registry has as members of a group, against the entitlements that lie beside them.
///
/// On Linux entitlements are a check against mistakes: a program that has none opens every group, and nothing is wrong
/// with it.
struct MemberPrograms {
    let group: AppGroup
    let home: GroupsHome

    /// Empty where no registry can be read, which is no fault of the container.
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
        return [AuditCheck.memberGone.finding(at: place, "Nothing lies where it was registered: \(names).")]
    }

    private func entitlements(of member: GroupMember) -> [Finding] {
        let path = VaultEntitlements.path(of: member)
        let place = FindingPlace(outside: path, group: group.identifier)
        let document: EntitlementsDocument
        do throws(AppGroupError) { document = try EntitlementsDocument.read(path: path) } catch {
            guard error.code == .malformedEntitlements else { return [] }
            return [AuditCheck.entitlementsUnusable.finding(at: place, "\(error.reason.capitalizedSentence).")]
        }
        let name = member.applicationIdentifier
        return holding(document, name, place) + wildcards(document, name, place) + debuggable(document, name, place)
    }

    /// Settings that only the program's environment has a value for cannot be judged here.
    private func holding(_ document: EntitlementsDocument, _ name: String, _ place: FindingPlace) -> [Finding] {
        do throws(AppGroupError) {
            guard try !Entitlements(document).holds(group) else { return [] }
        } catch {
            guard error.code != .unresolvedVariable else { return [] }
            return [AuditCheck.entitlementsUnusable.finding(at: place, "\(error.reason.capitalizedSentence).")]
        }
        return [
            AuditCheck.entitlementsWithoutGroup.finding(
                at: place, "\(name) does not hold \(group.identifier).",
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
    /// The first of them for a sentence, and how many more there are.
    func listed(_ most: Int = 8) -> String {
        let all = Array(self)
        let shown = all.prefix(most).joined(separator: ", ")
        return all.count > most ? "\(shown) and \(all.count - most) more" : shown
    }
}

extension String {
    /// The rest of a sentence as a sentence of its own, without its end.
    fileprivate var capitalizedSentence: String { prefix(1).uppercased() + dropFirst() }
}
