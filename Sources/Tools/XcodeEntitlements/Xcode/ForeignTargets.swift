/// What a project says of the targets of other projects that it uses.
struct ForeignTargets {
    let objects: ProjectObjects
    let files: FileReferences

    /// What the reference of a copied file stands for; nil where that is a file of its own project.
    func product(_ reference: String) -> ForeignTarget? {
        guard let object = objects[reference], object.isa == "PBXReferenceProxy" else { return nil }
        return target(object.text("remoteRef"), copiedAs: object.text("path") ?? "")
    }

    /// What a dependency leads to; nil where that is a target of its own project.
    func target(_ proxy: String?) -> ForeignTarget? { target(proxy, copiedAs: "") }

    private static let programs = [".appex", ".app", ".systemextension", ".dext", ".xpc"]

    private func target(_ proxy: String?, copiedAs file: String) -> ForeignTarget? {
        guard let proxy = objects[proxy], let id = proxy.text("remoteGlobalIDString"),
            let portal = proxy.text("containerPortal"), portal != objects.root, let package = files.path(of: portal)
        else { return nil }
        return ForeignTarget(
            project: ProjectPath.join(package, "project.pbxproj"), id: id, name: proxy.text("remoteInfo") ?? file,
            isEmbedded: Self.programs.contains { file.hasSuffix($0) })
    }
}
