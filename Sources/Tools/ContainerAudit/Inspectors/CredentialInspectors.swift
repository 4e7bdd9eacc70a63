internal import AppGroups
internal import KeyVault
internal import SealedState
internal import Sealing
internal import SharedFiles

/// Vault items with names of credentials that are accessible after the first unlock. Their values are not read.
struct VaultItemInspector: ContainerInspector {
    func conclude(_ seen: SeenContainer) -> [Finding] {
        // Without a person's slot, no stricter class is available.
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

    /// Returns the remedy with the item's names, if a shell accepts them unescaped.
    private static func remedy(_ item: VaultItem) -> String? {
        let names = [item.service, item.account]
        guard names.allSatisfy({ $0.printable == $0 && !$0.contains("{") }) else { return nil }
        return AuditCheck.itemReachable.remedy
            .replacing("SERVICE", with: item.service.shellQuoted).replacing("ACCOUNT", with: item.account.shellQuoted)
    }
}

/// Records with names of credentials that are stored without protection: without an expiry, or accessible after the
/// first unlock.
///
/// All of them share one finding, because they are habits of the programs rather than faults of single blobs.
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
                at: FindingPlace(scope.recordsPath, in: scope), "Without an expiry time: \(names.listed()).",
                confidence: .possible)
        ]
    }

    /// Returns a finding only if the vault has keys of the other class. Without a person's slot, that class is not
    /// available.
    private func reachable(_ records: [(name: String, keyID: String)], _ scope: AuditScope) -> [Finding] {
        guard let store = scope.store, let slots = try? store.vault.slots(),
            slots.contains(where: { $0.reach == .whenUnlocked }), let keys = try? store.vault.keySummaries()
        else { return [] }
        let wide = Set(keys.filter { $0.protection == .afterFirstUnlock }.map(\.id.description))
        let names = records.filter { wide.contains($0.keyID) }.map(\.name)
        guard !names.isEmpty else { return [] }
        return [
            AuditCheck.recordReachable.finding(
                at: FindingPlace(scope.recordsPath, in: scope), "After the first unlock: \(names.listed()).",
                confidence: .possible)
        ]
    }
}

extension AuditedFile {
    /// True if readers refuse it for any reason.
    fileprivate var isRefused: Bool {
        if case .refused = verdict { true } else { false }
    }
}
