internal import SharedFiles

/// Looks at the files that programs are made from.
struct FileCheck {
    let programs: [SignedProgram]
    let projects: [XcodeProject]
    /// Entitlements files that were found and that no program uses.
    let unused: [String]

    func run(_ findings: inout FindingCollector) {
        for program in programs { checkReference(program, &findings) }
        for project in projects { checkSettings(project, &findings) }
        for path in unused {
            findings.add(
                .entitlementsUnused, path: path, subject: ProjectPath.leaf(of: path),
                "No target's CODE_SIGN_ENTITLEMENTS names \(ProjectPath.relative(path, to: findings.root)).")
        }
    }

    private func checkReference(_ program: SignedProgram, _ findings: inout FindingCollector) {
        switch program.entitlements {
        case .missing(let path):
            let shown = ProjectPath.relative(path, to: findings.root)
            findings.add(
                .entitlementsMissing, of: program, path: program.place, line: line(naming: path, in: program.place),
                subject: shown, "\(program.name) is to be signed with \(shown), which does not exist.")
        case .refused(let path, let fault):
            findings.add(
                .entitlementsRefused, of: program, path: path, subject: ProjectPath.leaf(of: path),
                "The entitlements of \(program.name) are refused: \(fault.reason)")
        case .found(let file, differsInCase: true):
            let shown = ProjectPath.relative(file.path, to: findings.root)
            findings.add(
                .otherSpelling, of: program, path: program.place, line: line(naming: file.path, in: program.place),
                subject: shown, "\(program.name): CODE_SIGN_ENTITLEMENTS differs in case from \(shown).")
        case .found, .none: break
        }
    }

    /// The first line of a project that names an entitlements file.
    private func line(naming path: String, in project: String) -> Int? {
        guard let bytes = try? ProjectFiles.read(project, limit: ProjectFiles.projectLimit) else { return nil }
        let leaf = ProjectPath.leaf(of: path).lowercased()
        let lines = String(decoding: bytes, as: UTF8.self).split(
            omittingEmptySubsequences: false, whereSeparator: \.isNewline)
        return lines.firstIndex { $0.contains("CODE_SIGN_ENTITLEMENTS") && $0.lowercased().contains(leaf) }
            .map { $0 + 1 }
    }

    private func checkSettings(_ project: XcodeProject, _ findings: inout FindingCollector) {
        let missing = project.targets.flatMap { $0.configurations.flatMap(\.missingFiles) }
        for path in Set(missing).sorted() {
            let shown = ProjectPath.relative(path, to: findings.root)
            let template = Self.template(of: path)
            findings.add(
                .settingsMissing, template == nil ? nil : .note, path: project.path, subject: shown,
                "\(project.name): the settings file \(shown) does not exist.",
                remedy: template.map { "Copy \($0), and fill it in." })
        }
    }

    /// A file that people are meant to copy: `Developer.xcconfig.template`.
    private static func template(of path: String) -> String? {
        let names = (try? Directory.open(ProjectPath.parent(of: path)).entries().map(\.name)) ?? []
        let leaf = ProjectPath.leaf(of: path), stem = ProjectPath.stem(of: path)
        return names.first { name in
            name != leaf && name.hasPrefix(stem)
                && ["template", "example", "sample", "dist"].contains { name.lowercased().contains($0) }
        }
    }
}
