internal import AppGroups
internal import KeyVault
internal import SealedState
internal import Sealing
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

/// Records that are named as credentials are, and are kept as if they were none: without an end, or within reach of
/// everybody who has the machine after one unlock.
///
/// One finding for all of them: they are habits of the programs, not faults of single blobs.
struct RecordHabitInspector: ContainerInspector {
    func conclude(_ seen: SeenContainer) -> [Finding] {
        let records = seen.records.filter { CredentialName.matches($0.name) && !$0.file.isRefused }
        guard !records.isEmpty else { return [] }
        return endless(records.filter { $0.facts.notAfter == nil }.map(\.name), seen.scope)
            + reachable(records.map { ($0.name, $0.facts.keyID) }, seen.scope)
    }

    private func endless(_ names: [String], _ scope: AuditScope) -> [Finding] {
        guard !names.isEmpty else { return [] }
        return [
            AuditCheck.recordEndless.finding(
                at: FindingPlace(ContainerLayout.records, in: scope), "Without an end: \(names.listed()).",
                confidence: .possible)
        ]
    }

    /// Only where the vault has keys of the other class: without a person's slot there is no such class to choose.
    private func reachable(_ records: [(name: String, keyID: String)], _ scope: AuditScope) -> [Finding] {
        guard let store = scope.store, let slots = try? store.vault.slots(),
            slots.contains(where: { $0.reach == .whenUnlocked }), let keys = try? store.vault.keySummaries()
        else { return [] }
        let wide = Set(keys.filter { $0.protection == .afterFirstUnlock }.map(\.id.description))
        let names = records.filter { wide.contains($0.keyID) }.map(\.name)
        guard !names.isEmpty else { return [] }
        return [
            AuditCheck.recordReachable.finding(
                at: FindingPlace(ContainerLayout.records, in: scope), "After the first unlock: \(names.listed()).",
                confidence: .possible)
        ]
    }
}

extension AuditedFile {
    /// Whether readers refuse it, for whatever reason.
    fileprivate var isRefused: Bool {
        if case .refused = verdict { true } else { false }
    }
}
