internal import AppGroups
internal import SealedState

/// The container's copy of the registry against the registry itself.
struct RegistryInspector: ContainerInspector {
    func conclude(_ seen: SeenContainer) -> [Finding] {
        guard let group = seen.scope.group, let home = seen.scope.home else { return [] }
        let registry = GroupRegistry(group, in: home)
        // Twice: a program that changes its registration writes one after the other.
        guard registry.copyDiffers(in: seen.scope.root) == true, registry.copyDiffers(in: seen.scope.root) == true
        else { return [] }
        return [
            AuditCheck.copyDiffers.finding(
                at: FindingPlace(ContainerLayout.metadata, in: seen.scope), "The registry is \(registry.path).")
        ]
    }
}
