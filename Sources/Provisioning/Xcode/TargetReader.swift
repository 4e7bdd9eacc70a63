internal import PropertyLists

/// Takes the targets out of a project's objects.
struct TargetReader {
    private let objects: ProjectObjects
    private let files: FileReferences
    private let settingsFiles: SettingsFileCache
    private let path: String
    private let sourceRoot: String

    init(_ objects: ProjectObjects, path: String, sourceRoot: String) {
        self.objects = objects
        self.path = path
        self.sourceRoot = sourceRoot
        files = FileReferences(objects, sourceRoot: sourceRoot)
        settingsFiles = SettingsFileCache()
    }

    /// Each has the settings of its project: a file could name the same configuration a million times.
    private static let mostConfigurations = 20_000

    /// In the project's order.
    func targets() throws(ProjectFault) -> [XcodeTarget] {
        guard let project = objects[objects.root] else { return [] }
        let shared = configurations(of: project)
        let found = objects.all(project.texts("targets"))
        let count = found.reduce(0) { $0 + configurationIDs(of: $1).count }
        guard count <= Self.mostConfigurations else {
            throw ProjectFault("Its targets have more than \(Self.mostConfigurations) configurations.")
        }
        let products = found.reduce(into: [String: String]()) { products, target in
            if let product = target.text("productReference") { products[product] = target.id }
        }
        return found.map { target($0, shared, products) }
    }

    private func target(
        _ object: ProjectObject, _ shared: [String: ProjectObject], _ products: [String: String]
    ) -> XcodeTarget {
        let name = object.text("name") ?? object.id
        return XcodeTarget(
            id: object.id, name: name, kind: TargetKind(productType: object.text("productType") ?? ""),
            configurations: objects.all(configurationIDs(of: object)).map {
                configuration($0, over: shared, targetName: name)
            },
            dependencies: objects.all(object.texts("dependencies")).compactMap(dependency),
            embedded: copied(by: object).compactMap { products[$0] })
    }

    private func dependency(_ object: ProjectObject) -> String? {
        object.text("target") ?? objects[object.text("targetProxy")]?.text("remoteGlobalIDString")
    }

    /// The references to the files that a target copies.
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
        _ own: ProjectObject, over shared: [String: ProjectObject], targetName: String
    ) -> XcodeConfiguration {
        let name = own.text("name") ?? ""
        let levels = [shared[name], own].compactMap { $0 }
        let settingsFiles = levels.map { self.settingsFiles.read(settingsPath(of: $0)) }
        var assignments = builtIn(targetName, configuration: name)
        for (level, file) in zip(levels, settingsFiles) {
            assignments += file?.assignments ?? []
            assignments += Self.settings(of: level)
        }
        return XcodeConfiguration(
            name: name, assignments: assignments, absentFiles: settingsFiles.flatMap { $0?.absent ?? [] },
            missingFiles: settingsFiles.flatMap { $0?.missing ?? [] })
    }

    /// A file of a group, or since Xcode 16 a path below a folder.
    private func settingsPath(of configuration: ProjectObject) -> String? {
        if let reference = configuration.text("baseConfigurationReference") { return files.path(of: reference) }
        guard let path = configuration.text("baseConfigurationReferenceRelativePath"),
            let folder = files.path(of: configuration.text("baseConfigurationReferenceAnchor"))
        else { return nil }
        return ProjectPath.join(folder, path)
    }

    /// Those without conditions first, so that those with some win where they apply.
    private static func settings(of configuration: ProjectObject) -> [SettingAssignment] {
        let settings = configuration.fields["buildSettings"]?.dictionary ?? [:]
        return settings.sorted { $0.key < $1.key }
            .compactMap { SettingAssignment(key: $0.key, value: text(of: $0.value)) }
            .sorted { $0.conditions.count < $1.conditions.count }
    }

    private static func text(of value: PropertyListValue) -> String {
        value.string ?? value.array?.compactMap(\.string).joined(separator: " ") ?? ""
    }

    /// What Xcode itself sets, as far as it turns up in identifiers and paths.
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

/// Settings files that were read: many configurations use the same ones.
final class SettingsFileCache {
    private var files: [String: SettingsFile] = [:]

    func read(_ path: String?) -> SettingsFile? {
        guard let path else { return nil }
        if let known = files[path] { return known }
        let file = SettingsFile.read(path)
        files[path] = file
        return file
    }
}
