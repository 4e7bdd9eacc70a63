internal import AppGroups
internal import SealedState

/// The container's copy of the registry against the registry itself.
struct RegistryInspector: ContainerInspector {
    func conclude(_ seen: SeenContainer) -> [Finding] {
        guard let store = seen.scope.store else { return [] }
        let registry = GroupRegistry(store.group, in: store.home)
        // Twice: a program that changes its registration writes one after the other.
        guard registry.copyDiffers(in: seen.scope.root) == true, registry.copyDiffers(in: seen.scope.root) == true
        else { return [] }
        return [
            AuditCheck.copyDiffers.finding(
                at: FindingPlace(ContainerLayout.metadata, in: seen.scope), "The registry is \(registry.path).")
        ]
    }
}
