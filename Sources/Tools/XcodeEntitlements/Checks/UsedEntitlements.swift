/// The entitlements files that targets name, in any configuration, also those of targets that are not looked at.
struct UsedEntitlements {
    /// As they are named, and where that leads.
    private var paths: Set<String> = []
    /// Paths with settings in them that have no value: `App$(SUFFIX).entitlements`. Each stands for any text.
    private var patterns: Set<String> = []

    /// Beyond that no more are looked at: it takes a project that was made to have so many.
    private static let most = 10_000

    init(_ programs: [SignedProgram], _ projects: [XcodeProject], team: String?) {
        for path in Set(programs.compactMap { $0.entitlements.file?.path }) { add(path) }
        for project in projects {
            for target in project.targets {
                for configuration in target.configurations { add(configuration, project, team) }
            }
        }
    }

    func contains(_ path: String) -> Bool {
        let real = (try? ProjectFiles.realPath(path)) ?? path
        return paths.contains(path) || paths.contains(real)
            || patterns.contains { Self.matches(path, $0) || Self.matches(real, $0) }
    }

    /// Also the assignments that apply to no device: those of simulators, and those that a script reads.
    private mutating func add(_ configuration: XcodeConfiguration, _ project: XcodeProject, _ team: String?) {
        let values = Set(
            configuration.assignments.map(\.value).filter { $0.utf8.suffix(13).elementsEqual(".entitlements".utf8) })
        guard !values.isEmpty else { return }
        let platforms: [BuildPlatform?] = configuration.platforms
        for platform in platforms + [nil] {
            let settings = BuildSettings(
                configuration, for: platform, definedSettings: project.definedSettings, team: team)
            for value in values where paths.count + patterns.count < Self.most {
                let text = Self.pattern(value) { settings.expand(String($0)) }
                let path = ProjectPath.join(project.sourceRoot, text)
                if text.contains("*") { patterns.insert(path) } else { add(path) }
            }
        }
    }

    private mutating func add(_ path: String) {
        guard !paths.contains(path) else { return }
        paths.insert(path)
        if let spelling = ProjectFiles.spelling(of: path), let real = try? ProjectFiles.realPath(spelling) {
            paths.formUnion([spelling, real])
        }
    }

    /// What a reference stands for is no folder.
    private static func matches(_ path: String, _ pattern: String) -> Bool {
        let segments = path.split(separator: "/"), patterns = pattern.split(separator: "/")
        return segments.count == patterns.count
            && zip(segments, patterns).allSatisfy { Wildcard.matches(String($0), String($1)) }
    }

    /// With what each reference stands for in its place: `$(A_$(B))`, `${A}`, `$A`. A setting without a value may be given
    /// one by whoever builds, so it becomes a `*`.
    static func pattern(_ text: String, _ expand: (Substring) -> ExpandedSetting) -> String {
        var pattern = ""
        var rest = text[...]
        while let dollar = rest.firstIndex(of: "$") {
            let end = afterReference(rest[rest.index(after: dollar)...])
            let value = expand(rest[dollar..<end.startIndex])
            pattern += rest[..<dollar] + (value.text.isEmpty || !value.undefined.isEmpty ? "*" : value.text)
            rest = end
        }
        return pattern + rest
    }

    private static func afterReference(_ text: Substring) -> Substring {
        guard let first = text.first, "({[".contains(first) else {
            return text.drop { $0.isASCII && ($0.isLetter || $0.isNumber || $0 == "_") }
        }
        var depth = 0
        for index in text.indices {
            if "({[".contains(text[index]) { depth += 1 }
            if ")}]".contains(text[index]) { depth -= 1 }
            if depth == 0 { return text[text.index(after: index)...] }
        }
        return text[text.endIndex...]
    }
}
