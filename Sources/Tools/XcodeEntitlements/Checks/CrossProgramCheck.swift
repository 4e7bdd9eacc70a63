/// Compares programs across apps, configurations and devices.
struct CrossProgramCheck {
    /// The number of apps from which a group is wide.
    static let manyApps = 3

    let programs: ProjectPrograms

    func run(_ findings: inout FindingCollector) {
        let families = programs.families
        for family in families { checkWatch(family.app, &findings) }
        checkWidth(families, &findings)
        checkCase(families, &findings)
        checkConfigurations(families, &findings)
        VariantCheck(programs: programs.all).run(&findings)
    }

    private func checkWatch(_ app: SignedProgram, _ findings: inout FindingCollector) {
        guard app.kind == .app else { return }
        for watch in programs.carried(by: app) {
            for group in watch.groups where app.groupTexts.contains(group.text) {
                findings.add(
                    .watchGroup, of: watch, line: group.line, subject: group.text,
                    "\(watch.name) and \(app.name) both hold \(group.text): each device has its own container.")
            }
        }
    }

    /// Checks for wide groups. Apps with the same bundle identifier are variants of one app.
    private func checkWidth(_ families: [AppFamily], _ findings: inout FindingCollector) {
        var holders: [Holding: [String: SignedProgram]] = [:]
        for app in families.map(\.app) where app.kind == .app {
            for group in app.groupTexts {
                let holding = Holding(group: group, configuration: app.configuration)
                holders[holding, default: [:]][app.bundleIdentifier ?? app.name] = app
            }
        }
        for (holding, apps) in holders.sorted(by: { $0.key < $1.key }) where apps.count >= Self.manyApps {
            let names = Set(apps.values.map(\.name)).sorted().joined(separator: ", ")
            let first = apps.sorted { $0.key < $1.key }[0].value
            findings.add(
                .wideGroup, path: first.path, line: first.groups.first { $0.text == holding.group }?.line,
                subject: holding.group, "\(holding.group) is shared by \(apps.count) apps: \(names).")
        }
    }

    private struct Holding: Hashable, Comparable {
        let group: String
        let configuration: String?

        static func < (first: Self, second: Self) -> Bool {
            (first.group, first.configuration ?? "") < (second.group, second.configuration ?? "")
        }
    }

    /// Checks for groups of different apps that differ in case only. Apps of one vendor often have names that differ by
    /// a letter on purpose.
    private func checkCase(_ families: [AppFamily], _ findings: inout FindingCollector) {
        var first: [String: (name: String, app: SignedProgram)] = [:]
        for family in families {
            for group in family.app.groups {
                let folded = group.text.lowercased()
                guard let known = first[folded] else {
                    first[folded] = (group.text, family.app)
                    continue
                }
                guard known.name != group.text, known.app.id != family.app.id else { continue }
                findings.add(
                    .namesAlmostEqual, .warning, of: family.app, line: group.line, subject: group.text,
                    "\(family.app.name) has the app group \(group.text), and \(known.app.name) has \(known.name): they differ in case."
                )
            }
        }
    }

    private func checkConfigurations(_ families: [AppFamily], _ findings: inout FindingCollector) {
        let strays = Set(families.flatMap(Self.strays))
        let known = programs.all.filter { program in
            program.configuration != nil && program.isReadable && (program.kind.isApp || strays.contains(program.id))
        }
        let byTarget = Dictionary(grouping: known) { Slot(id: $0.id, platform: $0.platform) }
        for (_, variants) in byTarget.sorted(by: { $0.value[0].name < $1.value[0].name }) {
            let sets = variants.map { Set($0.groupTexts) }
            guard let largest = sets.max(by: { $0.count < $1.count }), sets.contains(where: { $0 != largest }) else {
                continue
            }
            let isOneWithout = sets.contains(where: \.isEmpty)
            findings.add(
                .configurationsDiffer, isOneWithout ? .warning : .note, of: variants[0].withoutConfiguration,
                subject: variants[0].name, "\(variants[0].name): \(Self.text(variants)).")
        }
    }

    /// Returns the parts with groups that their app lacks, or without groups if the app has some. Other parts change
    /// together with their app, for which one finding is enough.
    private static func strays(_ family: AppFamily) -> [ProgramID] {
        family.parts.filter { part in
            !Set(part.groupTexts).isSubset(of: family.app.groupTexts)
                || part.groups.isEmpty != family.app.groups.isEmpty
        }.map(\.id)
    }

    private struct Slot: Hashable {
        let id: ProgramID
        let platform: BuildPlatform?
    }

    /// Returns the text `Debug, Beta hold group.a; Release holds no app group`.
    private static func text(_ variants: [SignedProgram]) -> String {
        var parts: [(groups: String, names: [String])] = []
        for variant in variants {
            let groups =
                variant.groups.isEmpty ? "no app group" : Set(variant.groupTexts).sorted().joined(separator: ", ")
            let name = variant.configuration ?? ""
            if let known = parts.firstIndex(where: { $0.groups == groups }) {
                parts[known].names.append(name)
            } else {
                parts.append((groups, [name]))
            }
        }
        return parts.map { part in
            "\(part.names.joined(separator: ", ")) \(part.names.count == 1 ? "holds" : "hold") \(part.groups)"
        }.joined(separator: "; ")
    }
}

extension SignedProgram {
    /// The program for findings on all configurations.
    fileprivate var withoutConfiguration: SignedProgram {
        SignedProgram(
            id: id, name: name, project: project, kind: kind, configuration: nil, platform: platform,
            bundleIdentifier: bundleIdentifier, team: team, entitlements: entitlements, groups: groups,
            accessGroups: accessGroups, keyValueStore: keyValueStore, isSandboxed: isSandboxed, profile: profile,
            parts: parts, hasAbsentSettings: hasAbsentSettings, place: place)
    }
}
