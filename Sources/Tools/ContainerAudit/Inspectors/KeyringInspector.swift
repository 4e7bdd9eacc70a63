internal import AppGroups
internal import FoundationEssentials
internal import KeyVault
internal import SealedState
internal import Sealing

/// Checks the group's keys by age and use. It reads an open vault and creates nothing.
struct KeyringInspector: ContainerInspector {
    /// The longest expected duration of a rotation.
    static let longestRotation: Double = 86400

    func conclude(_ seen: SeenContainer) -> [Finding] {
        guard let store = seen.scope.store, let keys = try? store.vault.keySummaries() else { return [] }
        // Each class has its own epochs and its own rotation.
        var rotations: [ProtectionClass: RotationState] = [:]
        for protection in ProtectionClass.allCases {
            rotations[protection] = try? store.vault.rotationState(of: protection)
        }
        let place = FindingPlace(
            outside: VaultPlace(AccessGroup(store.group), in: store.home).path, group: store.group.identifier)
        return old(keys, at: place, seen) + unused(keys, rotations, at: place, seen)
            + unfinished(Array(rotations.values), at: place, seen.scope)
    }

    private func old(_ keys: [KeySummary], at place: FindingPlace, _ seen: SeenContainer) -> [Finding] {
        let ages = keys.filter { $0.state == .active }.map { seen.scope.seconds(since: $0.createdAt) }
        guard let age = ages.max(), age > Double(seen.scope.limits.maximumKeyAge.components.seconds) else { return [] }
        return [AuditCheck.keyOld.finding(at: place, "It was made \(Int(age / 86400)) days ago.")]
    }

    /// Returns the findings on keys whose epoch a completed rotation has ended and that no blob in any place uses.
    private func unused(
        _ keys: [KeySummary], _ rotations: [ProtectionClass: RotationState], at place: FindingPlace,
        _ seen: SeenContainer
    ) -> [Finding] {
        let retired = keys.filter { key in
            guard key.state == .decryptOnly, let rotation = rotations[key.protection] else { return false }
            return !rotation.isResealing && key.epoch < rotation.minimumEpoch
        }
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

    private func unfinished(_ rotations: [RotationState], at place: FindingPlace, _ scope: AuditScope) -> [Finding] {
        let ages = rotations.filter { $0.isResealing && $0.began > 0 }.map { scope.seconds(since: $0.began) }
        guard let age = ages.max(), age > Self.longestRotation else { return [] }
        return [AuditCheck.rotationUnfinished.finding(at: place, "It began \(Int(age / 3600)) hours ago.")]
    }
}

extension AuditScope {
    /// Returns the seconds since a time, negative for a time in the future.
    ///
    /// - Parameter milliseconds: The time in milliseconds since 1970, as in vaults.
    func seconds(since milliseconds: UInt64) -> Double {
        now.timeIntervalSince1970 - Double(milliseconds) / 1000
    }
}
