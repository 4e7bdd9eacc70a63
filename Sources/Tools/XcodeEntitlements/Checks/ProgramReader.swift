internal import AppGroups
internal import SharedFiles

/// Creates the signed programs of a project: one for each target, configuration and platform.
struct ProgramReader {
    private let project: XcodeProject
    private let cache: EntitlementsFileCache
    private let infos = InfoFileCache()
    private let foreign: ForeignPrograms
    private let team: String?
    private let targets: [String: XcodeTarget]

    init(
        _ project: XcodeProject, team: String?, cache: EntitlementsFileCache,
        foreign: ForeignPrograms = ForeignPrograms([])
    ) {
        self.foreign = foreign
        self.project = project
        self.team = team
        self.cache = cache
        targets = project.targets.reduce(into: [:]) { $0[$1.id] = $1 }
    }

    var programs: [SignedProgram] {
        project.targets.filter(\.kind.isSigned).flatMap { target in
            target.configurations.flatMap { configuration in
                let platforms: [BuildPlatform?] = configuration.platforms
                return (platforms.isEmpty ? [nil] : platforms).map { program(target, configuration, $0) }
            }
        }
    }

    private func program(
        _ target: XcodeTarget, _ configuration: XcodeConfiguration, _ platform: BuildPlatform?
    ) -> SignedProgram {
        var settings = BuildSettings(
            configuration, for: platform, definedSettings: project.definedSettings, team: team)
        let identifier = bundleIdentifier(settings)
        if let identifier { settings = settings.setting(EntitlementVariables.bundleIdentifier, to: identifier) }
        let reference = entitlements(settings)
        let document = reference.file?.document
        let held = { (values: [String]?) in (values ?? []).map { Self.held($0, settings, reference.file) } }
        return SignedProgram(
            id: id(of: target), name: target.name, project: project.name, kind: target.kind(on: platform),
            configuration: configuration.name, platform: platform, bundleIdentifier: identifier, team: settings.team,
            entitlements: reference, groups: held(document?.applicationGroups),
            accessGroups: held(document?.keychainAccessGroups),
            keyValueStore: held(document?.keyValueStoreIdentifier.map { [$0] }).first,
            isSandboxed: document?.isSandboxed ?? (settings.isOn("ENABLE_APP_SANDBOX") ? true : nil),
            profile: settings.value("PROVISIONING_PROFILE_SPECIFIER") ?? settings.value("PROVISIONING_PROFILE"),
            parts: parts(of: target),
            hasAbsentSettings: !(configuration.absentFiles + configuration.missingFiles).isEmpty, place: project.path)
    }

    private func id(of target: XcodeTarget) -> ProgramID { ProgramID(project: project.path, target: target.id) }

    /// Returns the targets copied into a target, and the extensions that it depends on, because a build system may copy
    /// those in a phase of its own.
    private func parts(of target: XcodeTarget) -> [ProgramID] {
        let dependencies = target.dependencies.filter { targets[$0]?.kind.isMadeToBeHeld ?? false }
        let own = Set(target.embedded + dependencies).sorted().compactMap { targets[$0].map(id) }
        return Array(Set(own + foreign.parts(of: target))).sorted { ($0.project, $0.target) < ($1.project, $1.target) }
    }

    private func bundleIdentifier(_ settings: BuildSettings) -> String? {
        let own = settings.expand("$(PRODUCT_BUNDLE_IDENTIFIER)")
        if !own.text.isEmpty, !own.undefined.contains("PRODUCT_BUNDLE_IDENTIFIER") { return own.text }
        guard let path = settings.value("INFOPLIST_FILE"),
            let info = infos.read(ProjectPath.join(project.sourceRoot, path)),
            let raw = info.bundleIdentifier
        else { return nil }
        let text = settings.expand(raw).text
        return text.isEmpty ? nil : text
    }

    private func entitlements(_ settings: BuildSettings) -> EntitlementsReference {
        guard let value = settings.value("CODE_SIGN_ENTITLEMENTS") else { return .none }
        let path = ProjectPath.join(project.sourceRoot, value)
        guard let spelling = ProjectFiles.spelling(of: path) else { return .missing(ProjectPath.shortened(path)) }
        switch cache.read(spelling) {
        case .success(let file): return .found(file, differsInCase: spelling != path)
        case .failure(let fault): return .refused(spelling, fault)
        }
    }

    private static func held(_ raw: String, _ settings: BuildSettings, _ file: EntitlementsFile?) -> HeldIdentifier {
        let expanded = settings.expand(raw)
        return HeldIdentifier(
            raw: raw, text: expanded.text, undefined: expanded.undefined, emptied: expanded.emptied,
            line: file?.line(of: raw))
    }
}

/// Finds a target's dependencies in other projects, among the projects that were read.
struct ForeignPrograms {
    private let projects: [String: [String: (project: XcodeProject, target: XcodeTarget)]]
    /// The targets that were not found, as sentences.
    let notes: [String]

    private static let mostNotes = 20

    init(_ all: [XcodeProject]) {
        var projects: [String: [String: (project: XcodeProject, target: XcodeTarget)]] = [:]
        for project in all {
            var targets: [String: (project: XcodeProject, target: XcodeTarget)] = [:]
            for target in project.targets {
                for id in [target.product, target.id].compactMap({ $0 }) { targets[id] = (project, target) }
            }
            projects[project.path] = targets
        }
        self.projects = projects
        var notes: [String] = []
        for target in all.flatMap(\.targets) {
            for other in target.foreign where other.isEmbedded && Self.find(other, in: projects) == nil {
                let note = "\(target.name) holds \(other.name) of \(other.project), which was not read: not compared"
                if notes.count < Self.mostNotes, !notes.contains(note.printable) { notes.append(note.printable) }
            }
        }
        self.notes = notes
    }

    /// Returns the programs that may be in a target.
    func parts(of target: XcodeTarget) -> [ProgramID] {
        target.foreign.compactMap { other in
            guard let found = Self.find(other, in: projects), found.target.kind.isSigned else { return nil }
            guard other.isEmbedded || found.target.kind.isMadeToBeHeld else { return nil }
            return ProgramID(project: found.project.path, target: found.target.id)
        }
    }

    private static func find(
        _ other: ForeignTarget, in projects: [String: [String: (project: XcodeProject, target: XcodeTarget)]]
    ) -> (project: XcodeProject, target: XcodeTarget)? {
        if let targets = projects[other.project] { return targets[other.id] }
        return (try? ProjectFiles.realPath(other.project)).flatMap { projects[$0]?[other.id] }
    }
}
