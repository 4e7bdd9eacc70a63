internal import AppGroups
internal import KeyVault
internal import SealedState
internal import Sealing

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
