internal import SharedFiles

/// The paths of a check, and the files found below them.
struct ProjectPlaces {
    private(set) var found = ProjectFinder()
    private var roots: [String] = []

    /// The directory that paths of a report are relative to.
    var root: String { ProjectPath.commonDirectory(of: roots) }

    mutating func add(_ path: String) throws(ProvisioningError) {
        do throws(FileError) {
            let real = try ProjectFiles.realPath(path)
            if try ProjectFiles.kind(of: real) == .directory {
                try addDirectory(real)
                return
            }
            roots.append(ProjectPath.parent(of: real))
            if found.add(real) { return }
            if ProjectPath.leaf(of: real).hasSuffix("Info.plist"), InfoFile.read(real) != nil {
                return try found.add(beside: real)
            }
        } catch { throw .unreadableProject(error) }
        throw .notAProject(path)
    }

    private mutating func addDirectory(_ path: String) throws(FileError) {
        let project = ProjectPath.join(path, "project.pbxproj")
        guard path.hasSuffix(".xcodeproj"), (try? ProjectFiles.kind(of: project)) == .regular else {
            roots.append(path)
            try found.search(path)
            return
        }
        roots.append(ProjectPath.parent(of: path))
        _ = found.add(project)
    }
}

extension ProvisioningError.Code {
    /// A path is neither a folder nor a file of a project.
    public static let notAProject = Self(rawValue: "notAProject")
}

extension ProvisioningError {
    private static let check = "check entitlements"

    static func notAProject(_ path: String) -> Self {
        Self(
            code: .notAProject, operation: check, subject: path, reason: "the check does not read files of this kind",
            advice:
                "Give a folder, an .xcodeproj, or Info.plist, .entitlements, .mobileprovision and .provisionprofile files."
        )
    }

    static func unreadableProject(_ error: FileError) -> Self {
        Self(
            code: .file, operation: check, subject: error.path, reason: "cannot \(error.operation)",
            advice: error.advice, underlying: error)
    }
}
