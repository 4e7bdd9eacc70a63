/// The entitlements files that targets name in any configuration, including targets that are not checked.
struct UsedEntitlements {
    /// The paths as named, and the files that they lead to.
    private var paths: Set<String> = []
    /// The paths with undefined settings: `App$(SUFFIX).entitlements`. Each setting matches any text.
    private var patterns: Set<String> = []

    /// The limit on paths, which only a crafted project exceeds.
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

    /// Adds the paths of a configuration, including assignments for no device: those of simulators, and those that a
    /// script reads.
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

    /// Returns whether a path matches a pattern. A reference does not match a `/`.
    private static func matches(_ path: String, _ pattern: String) -> Bool {
        let segments = path.split(separator: "/"), patterns = pattern.split(separator: "/")
        return segments.count == patterns.count
            && zip(segments, patterns).allSatisfy { Wildcard.matches(String($0), String($1)) }
    }

    /// Returns the text with each reference expanded: `$(A_$(B))`, `${A}`, `$A`. A setting without a value becomes a
    /// `*`, because it may be defined at build time.
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
