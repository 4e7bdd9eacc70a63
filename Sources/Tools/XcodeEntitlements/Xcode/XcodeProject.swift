internal import PropertyLists
internal import SharedFiles

/// An Xcode project, as far as signing requires: its targets, their settings, and their nesting.
struct XcodeProject: Sendable {
    /// The path of the `project.pbxproj`.
    let path: String
    /// The directory that `SRCROOT` names.
    let sourceRoot: String
    let targets: [XcodeTarget]
    /// The names of the settings that any configuration defines.
    let definedSettings: Set<String>

    /// The limits on structure. Projects of thousands of files have some hundred thousand values.
    private static let limits = StructureLimits(depth: 64, values: 8_000_000, size: ProjectFiles.projectLimit)

    /// - Throws: `ProjectFault` if the file cannot be read or is not a project.
    static func read(_ path: String) throws(ProjectFault) -> XcodeProject {
        let bytes: [UInt8]
        do throws(FileError) {
            bytes = try ProjectFiles.read(path, limit: ProjectFiles.projectLimit)
        } catch { throw ProjectFault(error.sentence) }
        return try XcodeProject(parsing: bytes, path: path)
    }

    /// - Parameter path: The absolute path of the bytes, from which settings files are located.
    init(parsing bytes: [UInt8], path: String) throws(ProjectFault) {
        let list: PropertyListValue
        do throws(StructureFault) {
            list = try PropertyList.parse(bytes, limits: Self.limits, repeatedKeys: .lastCounts).value
        } catch { throw ProjectFault(error.reason) }
        let objects = try ProjectObjects(list)
        let folder = ProjectPath.parent(of: ProjectPath.parent(of: path))
        let inner = objects[objects.root]?.text("projectDirPath") ?? ""
        let sourceRoot = ProjectPath.join(folder, inner)
        self.path = path
        self.sourceRoot = sourceRoot
        let targets = try TargetReader(objects, path: path, sourceRoot: sourceRoot).targets()
        self.targets = targets
        let configurations = targets.flatMap(\.configurations)
        definedSettings = configurations.reduce(into: []) { names, configuration in
            names.formUnion(configuration.assignments.map(\.name))
        }
    }

    /// The project's name in Xcode.
    var name: String { ProjectPath.stem(of: ProjectPath.parent(of: path)) }
}

/// A target of an Xcode project.
struct XcodeTarget: Sendable {
    let id: String
    let name: String
    let kind: TargetKind
    let configurations: [XcodeConfiguration]
    /// The ids of the targets that it depends on.
    let dependencies: [String]
    /// The ids of the targets whose products are copied into its own.
    let embedded: [String]
    /// The id of its product.
    let product: String?
    /// Targets of other projects that it depends on, or whose products are copied into its own.
    let foreign: [ForeignTarget]

    /// Returns the kind on a platform. An app that is built for watches is a watch app, regardless of its project's
    /// product type.
    func kind(on platform: BuildPlatform?) -> TargetKind {
        kind == .app && platform == .watchOS ? .watchApp : kind
    }
}

/// A reference to a target of another project.
struct ForeignTarget: Sendable, Hashable {
    /// The other project's `project.pbxproj`.
    let project: String
    /// The id of the target or of its product in that project.
    let id: String
    let name: String
    /// True if its product is copied and is a program.
    let isEmbedded: Bool
}

/// A build configuration of a target: `Debug`, `Release`, or any other name.
struct XcodeConfiguration: Sendable {
    let name: String
    /// The effective assignments: the project's, then the target's. The project's are stored once.
    let levels: [[SettingAssignment]]
    /// The optional settings files that are missing and could define any setting.
    let absentFiles: [String]
    /// The required settings files that are missing.
    let missingFiles: [String]

    /// The assignments in order. The last applicable one wins, and `$(inherited)` in it refers to the one before.
    var assignments: FlattenSequence<[[SettingAssignment]]> { levels.joined() }
}
