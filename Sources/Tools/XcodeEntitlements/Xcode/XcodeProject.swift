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
