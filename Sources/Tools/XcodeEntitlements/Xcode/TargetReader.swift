internal import PropertyLists

/// Extracts the targets from a project's objects.
struct TargetReader {
    private let objects: ProjectObjects
    private let files: FileReferences
    private let foreign: ForeignTargets
    private let settingsFiles: SettingsFileCache
    private let path: String
    private let sourceRoot: String

    init(_ objects: ProjectObjects, path: String, sourceRoot: String) {
        self.objects = objects
        self.path = path
        self.sourceRoot = sourceRoot
        files = FileReferences(objects, sourceRoot: sourceRoot)
        foreign = ForeignTargets(objects: objects, files: files)
        settingsFiles = SettingsFileCache()
    }

    /// Returns the targets in the project's order.
    func targets() throws(ProjectFault) -> [XcodeTarget] {
        guard let project = objects[objects.root] else { return [] }
        let shared = configurations(of: project).mapValues(level)
        let found = objects.all(project.texts("targets"))
        let products = found.reduce(into: [String: String]()) { products, target in
            if let product = target.text("productReference") { products[product] = target.id }
        }
        let work = WorkLimit()
        var targets: [XcodeTarget] = []
        for object in found { targets.append(try target(object, shared, products, work)) }
        return targets
    }

    private func target(
        _ object: ProjectObject, _ shared: [String: SettingsLevel], _ products: [String: String], _ work: WorkLimit
    ) throws(ProjectFault) -> XcodeTarget {
        let name = object.text("name") ?? object.id
        var configurations: [XcodeConfiguration] = []
        for own in objects.all(configurationIDs(of: object)) {
            let built = configuration(own, over: shared[own.text("name") ?? ""], targetName: name)
            try work.add(100 + built.levels.reduce(0) { $0 + $1.count })
            configurations.append(built)
        }
        let copied = copied(by: object)
        let dependencies = objects.all(object.texts("dependencies"))
        try work.add(copied.count + dependencies.count)
        return XcodeTarget(
            id: object.id, name: name, kind: TargetKind(productType: object.text("productType") ?? ""),
            configurations: configurations,
            dependencies: dependencies.compactMap(dependency), embedded: copied.compactMap { products[$0] },
            product: object.text("productReference"),
            foreign: copied.compactMap { foreign.product($0) }
                + dependencies.compactMap { foreign.target($0.text("targetProxy")) })
    }

    private func dependency(_ object: ProjectObject) -> String? {
        object.text("target") ?? objects[object.text("targetProxy")]?.text("remoteGlobalIDString")
    }

    /// Returns the references to the files that a target copies.
    private func copied(by target: ProjectObject) -> [String] {
        objects.all(target.texts("buildPhases")).filter { $0.isa == "PBXCopyFilesBuildPhase" }
            .flatMap { objects.all($0.texts("files")) }.compactMap { $0.text("fileRef") }
    }

    private func configurations(of project: ProjectObject) -> [String: ProjectObject] {
        objects.all(configurationIDs(of: project)).reduce(into: [:]) { $0[$1.text("name") ?? ""] = $1 }
    }

    private func configurationIDs(of object: ProjectObject) -> [String] {
        objects[object.text("buildConfigurationList")]?.texts("buildConfigurations") ?? []
    }

    private func configuration(
        _ own: ProjectObject, over shared: SettingsLevel?, targetName: String
    ) -> XcodeConfiguration {
        let name = own.text("name") ?? ""
        let levels = [shared, level(own)].compactMap { $0 }
        return XcodeConfiguration(
            name: name,
            levels: [builtIn(targetName, configuration: name)]
                + levels.flatMap { [$0.file?.assignments ?? [], $0.own] },
            absentFiles: levels.flatMap { $0.file?.absent ?? [] },
            missingFiles: levels.flatMap { $0.file?.missing ?? [] })
    }

    private func level(_ object: ProjectObject) -> SettingsLevel {
        SettingsLevel(file: settingsFiles.read(settingsPath(of: object)), own: Self.settings(of: object))
    }

    /// Returns the path of a settings file: a file of a group, or since Xcode 16 a path relative to a folder.
    private func settingsPath(of configuration: ProjectObject) -> String? {
        if let reference = configuration.text("baseConfigurationReference") { return files.path(of: reference) }
        guard let path = configuration.text("baseConfigurationReferenceRelativePath"),
            let folder = files.path(of: configuration.text("baseConfigurationReferenceAnchor"))
        else { return nil }
        return ProjectPath.join(folder, path)
    }

    /// Returns the settings, unconditional ones first, so that conditional ones win if they apply.
    private static func settings(of configuration: ProjectObject) -> [SettingAssignment] {
        let settings = configuration.fields["buildSettings"]?.dictionary ?? [:]
        return settings.sorted { $0.key < $1.key }
            .compactMap { SettingAssignment(key: $0.key, value: text(of: $0.value)) }
            .sorted { $0.conditions.count < $1.conditions.count }
    }

    private static func text(of value: PropertyListValue) -> String {
        value.string ?? value.array?.compactMap(\.string).joined(separator: " ") ?? ""
    }

    /// Returns Xcode's own settings, as far as they occur in identifiers and paths.
    private func builtIn(_ target: String, configuration: String) -> [SettingAssignment] {
        let name = ProjectPath.stem(of: ProjectPath.parent(of: path))
        let values = [
            ("SRCROOT", sourceRoot), ("SOURCE_ROOT", sourceRoot), ("PROJECT_DIR", sourceRoot), ("PROJECT_NAME", name),
            ("PROJECT_FILE_PATH", ProjectPath.parent(of: path)), ("TARGET_NAME", target), ("TARGETNAME", target),
            ("CONFIGURATION", configuration), ("PRODUCT_NAME", target), ("EXECUTABLE_NAME", "$(PRODUCT_NAME)"),
            ("PRODUCT_MODULE_NAME", "$(PRODUCT_NAME:c99extidentifier)"),
        ]
        return values.compactMap { SettingAssignment(key: $0.0, value: $0.1) }
    }
}

/// The settings of one configuration of a project or a target.
private struct SettingsLevel {
    let file: SettingsFile?
    let own: [SettingAssignment]
}

/// A limit on a project's settings, because many targets in a small file may share large settings whose sum must be
/// stored.
private final class WorkLimit {
    private static let most = 4_000_000
    private var done = 0

    func add(_ count: Int) throws(ProjectFault) {
        done += count
        if done > Self.most { throw ProjectFault("Its targets have too many settings.") }
    }
}

/// The references to targets of other projects.
struct ForeignTargets {
    let objects: ProjectObjects
    let files: FileReferences

    /// Returns the target of a copied file's reference, or `nil` for a file of the same project.
    func product(_ reference: String) -> ForeignTarget? {
        guard let object = objects[reference], object.isa == "PBXReferenceProxy" else { return nil }
        return target(object.text("remoteRef"), copiedAs: object.text("path") ?? "")
    }

    /// Returns the target of a dependency, or `nil` for a target of the same project.
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
