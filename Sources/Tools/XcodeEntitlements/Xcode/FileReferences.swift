/// Where a project's files lie: each has a path seen from its group, which has one seen from its own, up to the project.
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

    /// The absolute path of a file or group; nil where it lies among products or in an SDK, or the groups are a circle.
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
