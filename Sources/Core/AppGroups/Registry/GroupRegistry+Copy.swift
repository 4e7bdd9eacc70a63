package import SharedFiles

extension GroupRegistry {
    /// Whether the copy in the group's container says something else than the registry. Programs that open the container for
    /// writing put it right.
    ///
    /// - Returns: nil where one of the two is missing or cannot be read, which others report.
    package func copyDiffers(in root: Directory) -> Bool? {
        guard let entry = try? RegistryPlace(group: group, home: home).read(),
            let copy = try? ContainerCopy.read(in: root, of: group)
        else { return nil }
        return entry != copy
    }
}
