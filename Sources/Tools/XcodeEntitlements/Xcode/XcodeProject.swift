internal import PropertyLists
internal import SharedFiles

/// An Xcode project, as far as signing goes: its targets, what settings they are built with, and which lies in which.
struct XcodeProject: Sendable {
    /// The `project.pbxproj`.
    let path: String
    /// The directory that `SRCROOT` names.
    let sourceRoot: String
    let targets: [XcodeTarget]
    /// The names of the settings that any configuration gives a value.
    let definedSettings: Set<String>

    /// Projects of thousands of files have some hundred thousand values.
    private static let limits = StructureLimits(depth: 64, values: 8_000_000, size: ProjectFiles.projectLimit)

    /// - Throws: `ProjectFault`: it cannot be read, or is no project.
    static func read(_ path: String) throws(ProjectFault) -> XcodeProject {
        let bytes: [UInt8]
        do throws(FileError) {
            bytes = try ProjectFiles.read(path, limit: ProjectFiles.projectLimit)
        } catch { throw ProjectFault(error.sentence) }
        return try XcodeProject(parsing: bytes, path: path)
    }

    /// - Parameter path: Where the bytes come from, absolute: settings files are looked for from there.
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

    /// What Xcode calls it.
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
    /// The id of what it makes.
    let product: String?
    /// Targets of other projects that it depends on, or whose products are copied into its own.
    let foreign: [ForeignTarget]

    /// What it is on a platform: an app that is built for watches is a watch app, however its project calls it.
    func kind(on platform: BuildPlatform?) -> TargetKind {
        kind == .app && platform == .watchOS ? .watchApp : kind
    }
}

/// A target of another project, as a project names it.
struct ForeignTarget: Sendable, Hashable {
    /// The other's `project.pbxproj`.
    let project: String
    /// The id of the target or of its product there.
    let id: String
    let name: String
    /// Whether its product is copied, and is a program.
    let isEmbedded: Bool
}

/// One of a target's ways to be built: `Debug`, `Release`, or any other name.
struct XcodeConfiguration: Sendable {
    let name: String
    /// Every assignment that counts for it: the project's, then the target's. The project's are in memory once.
    let levels: [[SettingAssignment]]
    /// Settings files that are included if they are there, and are not: they may give any setting a value.
    let absentFiles: [String]
    /// Settings files that have to be there and are not.
    let missingFiles: [String]

    /// Of several that apply the last one wins, and `$(inherited)` in it is the one before.
    var assignments: FlattenSequence<[[SettingAssignment]]> { levels.joined() }
}
