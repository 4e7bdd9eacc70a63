internal import AppGroups
internal import KeyVault
internal import SealedState
internal import SharedFiles

/// Items of the group's vault that are named as credentials are, and lie within reach of everybody who has the machine after
/// one unlock. Their values are not touched.
struct VaultItemInspector: ContainerInspector {
    func conclude(_ seen: SeenContainer) -> [Finding] {
        // Without a person's slot there is no stricter class to choose.
        guard let store = seen.scope.store, let slots = try? store.vault.slots(),
            slots.contains(where: { $0.reach == .whenUnlocked }), let items = try? store.vault.items()
        else { return [] }
        let wide = items.filter { $0.accessibility.protection == .afterFirstUnlock && Self.isCredential($0) }
        guard !wide.isEmpty else { return [] }
        let place = FindingPlace(
            outside: VaultPlace(AccessGroup(store.group), in: store.home).path, group: store.group.identifier)
        return [
            AuditCheck.itemReachable.finding(
                at: place, "After the first unlock: \(wide.map { "\($0.service)/\($0.account)" }.listed()).",
                confidence: .possible, remedy: wide.count == 1 ? Self.remedy(wide[0]) : nil)
        ]
    }

    private static func isCredential(_ item: VaultItem) -> Bool {
        [item.service, item.account, item.label].contains(where: CredentialName.matches)
    }

    /// With the item's own names, where a shell takes them as they are.
    private static func remedy(_ item: VaultItem) -> String? {
        let names = [item.service, item.account]
        guard names.allSatisfy({ $0.printable == $0 && !$0.contains("{") }) else { return nil }
        return AuditCheck.itemReachable.remedy
            .replacing("SERVICE", with: item.service.shellQuoted).replacing("ACCOUNT", with: item.account.shellQuoted)
    }
}
