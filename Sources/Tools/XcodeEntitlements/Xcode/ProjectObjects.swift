internal import PropertyLists

/// The objects of a `project.pbxproj`. Each has an id and an `isa`, and refers to others by id.
struct ProjectObjects {
    /// The id of the project object.
    let root: String
    private let objects: [String: ProjectObject]

    /// - Parameter list: The whole file.
    /// - Throws: `ProjectFault` if the file is not a project.
    init(_ list: PropertyListValue) throws(ProjectFault) {
        guard let all = list["objects"]?.dictionary else { throw ProjectFault("it has no objects") }
        guard let root = list["rootObject"]?.string else { throw ProjectFault("it names no root object") }
        self.root = root
        objects = all.reduce(into: [:]) { objects, entry in
            guard let fields = entry.value.dictionary else { return }
            objects[entry.key] = ProjectObject(id: entry.key, fields: fields)
        }
    }

    subscript(id: String?) -> ProjectObject? { id.flatMap { objects[$0] } }

    /// Returns the objects with the given ids, each once. Missing objects are omitted.
    func all(_ ids: [String]) -> [ProjectObject] {
        var seen: Set<String> = []
        return ids.compactMap { seen.insert($0).inserted ? objects[$0] : nil }
    }

    /// The objects, unordered.
    var everything: some Sequence<ProjectObject> { objects.values }
}

/// An object of a project.
struct ProjectObject {
    let id: String
    let fields: [String: PropertyListValue]

    var isa: String { text("isa") ?? "" }

    func text(_ key: String) -> String? { fields[key]?.string }

    /// Returns a list of ids or other texts, which is empty if the key is missing.
    func texts(_ key: String) -> [String] { fields[key]?.array?.compactMap(\.string) ?? [] }
}

/// The reason why a file is not a valid project.
struct ProjectFault: Error {
    let reason: String

    init(_ reason: String) { self.reason = reason }
}

/// The paths of a project's files. Each path is relative to its group, whose path is relative to its own group, up to
/// the project.
struct FileReferences {
    private static let deepest = 64

    private let objects: ProjectObjects
    /// The directory that `SRCROOT` names.
    private let sourceRoot: String
    private let parents: [String: String]

    init(_ objects: ProjectObjects, sourceRoot: String) {
        self.objects = objects
        self.sourceRoot = sourceRoot
        parents = objects.everything.reduce(into: [:]) { parents, object in
            for child in object.texts("children") { parents[child] = object.id }
        }
    }

    /// Returns the absolute path of a file or group, or `nil` if it is among products or in an SDK, or if the groups
    /// form a cycle.
    func path(of id: String?) -> String? {
        var segments: [String] = []
        var current = id
        for _ in 0..<Self.deepest {
            guard let object = objects[current] else { return nil }
            if let path = object.text("path") { segments.append(path) }
            switch object.text("sourceTree") ?? "<group>" {
            case "<absolute>": return ProjectPath.normalised("/" + segments.reversed().joined(separator: "/"))
            case "SOURCE_ROOT": return fromRoot(segments)
            case "<group>":
                guard let parent = parents[object.id] else { return fromRoot(segments) }
                current = parent
            default: return nil
            }
        }
        return nil
    }

    private func fromRoot(_ segments: [String]) -> String {
        ProjectPath.join(sourceRoot, segments.reversed().joined(separator: "/"))
    }
}
