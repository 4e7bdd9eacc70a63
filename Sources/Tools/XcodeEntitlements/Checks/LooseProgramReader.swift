internal import AppGroups

/// Creates programs from entitlements files that no project uses: those of generated projects (XcodeGen, Tuist, Bazel),
/// or files that were named individually. An `Info.plist` beside a file identifies its program.
struct LooseProgramReader {
    private let team: String?
    private let cache: EntitlementsFileCache

    init(team: String?, cache: EntitlementsFileCache) {
        self.team = team
        self.cache = cache
    }

    func programs(_ paths: [String]) -> [SignedProgram] {
        let files = paths.map { LooseFile(path: $0, info: Self.info(beside: $0)) }
        let apps = files.filter { $0.kind == .app }
        var parts: [ProgramID: [ProgramID]] = [:]
        for part in files where part.kind.sharesWithItsApp {
            for app in Self.apps(around: part, among: apps) { parts[app.id, default: []].append(part.id) }
        }
        return files.map { program($0, parts: parts[$0.id] ?? []) }
    }

    /// Returns the app whose identifier is a prefix of the extension's, or the nearest app if identifiers are unknown.
    /// An app may have more than one file.
    private static func apps(around part: LooseFile, among apps: [LooseFile]) -> [LooseFile] {
        let named = apps.filter { app in
            guard let own = part.bundleIdentifier, let name = app.bundleIdentifier else { return false }
            return own.hasPrefix(name + ".")
        }
        if !named.isEmpty { return named }
        let depths = apps.map { ProjectPath.commonDirectory(of: [part.directory, $0.directory]).utf8.count }
        let deepest = depths.max()
        let nearest = zip(apps, depths).filter { $0.1 == deepest }.map(\.0)
        // With two apps at the same distance, the owner cannot be determined.
        return Set(nearest.map(\.directory)).count == 1 ? nearest : []
    }

    /// Returns the `Info.plist` with the file's name in its own, or else the only one.
    private static func info(beside path: String) -> InfoFile? {
        let directory = ProjectPath.parent(of: path), stem = ProjectPath.stem(of: path)
        for name in ["\(stem)-Info.plist", "\(stem).plist", "Info.plist", "\(stem)Info.plist"] {
            if let info = InfoFile.read(ProjectPath.join(directory, name)) { return info }
        }
        return nil
    }

    private func program(_ loose: LooseFile, parts: [ProgramID]) -> SignedProgram {
        let reference: EntitlementsReference
        switch cache.read(loose.path) {
        case .success(let file): reference = .found(file, differsInCase: false)
        case .failure(let fault): reference = .refused(loose.path, fault)
        }
        let document = reference.file?.document
        let variables = variables(loose.bundleIdentifier)
        let held = { (values: [String]?) in (values ?? []).map { Self.held($0, variables, reference.file) } }
        return SignedProgram(
            id: loose.id, name: ProjectPath.stem(of: loose.path), project: nil, kind: loose.kind, configuration: nil,
            platform: loose.info?.platform, bundleIdentifier: loose.bundleIdentifier,
            team: team ?? document?.teamIdentifier, entitlements: reference,
            groups: held(document?.applicationGroups), accessGroups: held(document?.keychainAccessGroups),
            keyValueStore: held(document?.keyValueStoreIdentifier.map { [$0] }).first,
            isSandboxed: document?.isSandboxed, profile: nil, parts: parts, hasAbsentSettings: true,
            place: loose.path)
    }

    private func variables(_ identifier: String?) -> EntitlementVariables {
        let spelled = team ?? BuildSettings.unknownTeam
        return EntitlementVariables(
            teamIdentifier: try? TeamIdentifier(spelled), bundleIdentifier: identifier)
    }

    private static func held(
        _ raw: String, _ variables: EntitlementVariables, _ file: EntitlementsFile?
    ) -> HeldIdentifier {
        let expanded = variables.expand(raw)
        return HeldIdentifier(
            raw: raw, text: expanded.text, undefined: expanded.unresolved, emptied: [],
            line: file?.line(of: raw))
    }
}

/// An entitlements file and the `Info.plist` beside it.
private struct LooseFile {
    let path: String
    let info: InfoFile?

    var id: ProgramID { ProgramID(project: "", target: path) }
    var directory: String { ProjectPath.parent(of: path) }
    var kind: TargetKind { info.map { $0.kind == .other ? .unknown : $0.kind } ?? .unknown }

    /// The bundle identifier, or `nil` if it is unknown or a build setting.
    var bundleIdentifier: String? { info?.bundleIdentifier.flatMap { $0.contains("$") ? nil : $0 } }
}
