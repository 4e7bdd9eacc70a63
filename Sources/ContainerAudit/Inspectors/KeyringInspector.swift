internal import AppGroups
internal import FoundationEssentials
internal import KeyVault
internal import SealedState
internal import Sealing

/// The group's keys by age and use; asks an open vault, and makes nothing.
struct KeyringInspector: ContainerInspector {
    /// For how long a rotation may be at work.
    static let longestRotation: Double = 86400

    func conclude(_ seen: SeenContainer) -> [Finding] {
        guard let store = seen.scope.store, let keys = try? store.vault.keySummaries(),
            let rotation = try? store.vault.rotationState()
        else { return [] }
        let place = FindingPlace(
            outside: VaultPlace(AccessGroup(store.group), in: store.home).path, group: store.group.identifier)
        return old(keys, at: place, seen) + unused(keys, rotation, at: place, seen)
            + unfinished(rotation, at: place, seen.scope)
    }

    private func old(_ keys: [KeySummary], at place: FindingPlace, _ seen: SeenContainer) -> [Finding] {
        let ages = keys.filter { $0.state == .active }.map { seen.scope.seconds(since: $0.createdAt) }
        guard let age = ages.max(), age > Double(seen.scope.limits.maximumKeyAge.components.seconds) else { return [] }
        return [AuditCheck.keyOld.finding(at: place, "It was made \(Int(age / 86400)) days ago.")]
    }

    /// Keys whose epoch a completed rotation has ended, and that no blob here claims, wherever it lies.
    private func unused(
        _ keys: [KeySummary], _ rotation: RotationState, at place: FindingPlace, _ seen: SeenContainer
    ) -> [Finding] {
        guard !rotation.isResealing else { return [] }
        let retired = keys.filter { $0.state == .decryptOnly && $0.epoch < rotation.minimumEpoch }
        guard !retired.isEmpty else { return [] }
        let needed = Set(seen.files.compactMap { $0.record?.keyID })
        let unused = retired.map(\.id.description).filter { !needed.contains($0) }
        guard !unused.isEmpty else { return [] }
        let commands = unused.prefix(8).map { "sealctl vault destroy-key --group {group} \($0)" }
        let remedy =
            "See what still needs it (sealctl vault rotate --status --group {group}), then destroy it: "
            + commands.joined(separator: " && ")
        return [AuditCheck.keyUnused.finding(at: place, "By id: \(unused.listed()).", remedy: remedy)]
    }

    private func unfinished(_ rotation: RotationState, at place: FindingPlace, _ scope: AuditScope) -> [Finding] {
        guard rotation.isResealing, rotation.began > 0 else { return [] }
        let age = scope.seconds(since: rotation.began)
        guard age > Self.longestRotation else { return [] }
        return [AuditCheck.rotationUnfinished.finding(at: place, "It began \(Int(age / 3600)) hours ago.")]
    }
}

extension AuditScope {
    /// How long ago a moment was, in seconds; negative for one to come.
    ///
    /// - Parameter milliseconds: Since 1970, as vaults have them.
    func seconds(since milliseconds: UInt64) -> Double {
        now.timeIntervalSince1970 - Double(milliseconds) / 1000
    }
}
