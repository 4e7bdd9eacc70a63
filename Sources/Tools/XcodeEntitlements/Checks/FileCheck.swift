internal import SharedFiles

/// Checks the source files of programs.
struct FileCheck {
    let programs: [SignedProgram]
    let projects: [XcodeProject]
    /// The entitlements files that no program uses.
    let unused: [String]

    func run(_ findings: inout FindingCollector) {
        let lines = SigningLineCache()
        for program in programs { checkReference(program, lines, &findings) }
        for project in projects { checkSettings(project, &findings) }
        for path in unused {
            findings.add(
                .entitlementsUnused, path: path, subject: ProjectPath.leaf(of: path),
                "No target's CODE_SIGN_ENTITLEMENTS names \(ProjectPath.relative(path, to: findings.root)).")
        }
    }

    private func checkReference(
        _ program: SignedProgram, _ lines: SigningLineCache, _ findings: inout FindingCollector
    ) {
        switch program.entitlements {
        case .missing(let path):
            let shown = ProjectPath.relative(path, to: findings.root)
            findings.add(
                .entitlementsMissing, of: program, path: program.place,
                line: lines.line(naming: path, in: program.place),
                subject: shown, "\(program.name) is signed with \(shown), which does not exist.")
        case .refused(let path, let fault):
            findings.add(
                .entitlementsRefused, of: program, path: path, subject: ProjectPath.leaf(of: path),
                "The entitlements of \(program.name) are refused: \(fault.reason)")
        case .found(let file, differsInCase: true):
            let shown = ProjectPath.relative(file.path, to: findings.root)
            findings.add(
                .otherSpelling, of: program, path: program.place,
                line: lines.line(naming: file.path, in: program.place),
                subject: shown, "\(program.name): CODE_SIGN_ENTITLEMENTS differs in case from \(shown).")
        case .found, .none: break
        }
    }

    private func checkSettings(_ project: XcodeProject, _ findings: inout FindingCollector) {
        let missing = project.targets.flatMap { $0.configurations.flatMap(\.missingFiles) }
        for path in Set(missing).sorted() {
            let shown = ProjectPath.relative(path, to: findings.root)
            let template = Self.template(of: path)
            let isThere = (try? ProjectFiles.realPath(path)) != nil
            findings.add(
                .settingsMissing, template == nil ? nil : .note, path: project.path, subject: shown,
                "\(project.name): the settings file \(shown) \(isThere ? "is refused: it cannot be read, or is too large" : "does not exist").",
                remedy: template.map { "Copy \($0), and complete it." })
        }
    }

    /// Returns the name of a template for users to copy, such as `Developer.xcconfig.template`.
    private static func template(of path: String) -> String? {
        guard ProjectFiles.isPossible(path) else { return nil }
        let names = (try? Directory.open(ProjectPath.parent(of: path)).entries().map(\.name)) ?? []
        let leaf = ProjectPath.leaf(of: path), stem = ProjectPath.stem(of: path)
        return names.first { name in
            name != leaf && name.hasPrefix(stem)
                && ["template", "example", "sample", "dist"].contains { name.lowercased().contains($0) }
        }
    }
}

/// A cache of the lines where projects name entitlements files. Each project is read once.
private final class SigningLineCache {
    private var projects: [String: [String: Int]] = [:]

    /// Returns the first line that names a file, compared by its leaf in any case.
    func line(naming path: String, in project: String) -> Int? {
        let leaf = ProjectPath.leaf(of: path).lowercased()
        if let known = projects[project] { return known[leaf] }
        let lines = Self.read(project)
        projects[project] = lines
        return lines[leaf]
    }

    private static func read(_ project: String) -> [String: Int] {
        guard let bytes = try? ProjectFiles.read(project, limit: ProjectFiles.projectLimit) else { return [:] }
        var found: [String: Int] = [:]
        for (index, line) in bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false).enumerated() {
            let text = String(decoding: line, as: UTF8.self)
            guard let name = text.firstRange(of: "CODE_SIGN_ENTITLEMENTS") else { continue }
            // Skips the `=` of a condition, as in `[sdk=macosx*]`.
            let rest = text[name.upperBound...]
            let end = rest.first == "[" ? rest.firstIndex(of: "]") : nil
            guard let equals = rest[(end ?? rest.startIndex)...].firstIndex(of: "=") else { continue }
            let value = rest[rest.index(after: equals)...].prefix { $0 != ";" }.filter { $0 != "\"" }
            let leaf = ProjectPath.leaf(of: value.trimmingSpace).lowercased()
            if found[leaf] == nil { found[leaf] = index + 1 }
        }
        return found
    }
}
