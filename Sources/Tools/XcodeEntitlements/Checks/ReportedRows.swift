/// Builds the rows of the matrix. Programs of a target with the same items are one row.
struct ReportedRows {
    let programs: ProjectPrograms
    let root: String

    private struct Key: Hashable {
        let id: ProgramID
        let app: ProgramID?
        let groups: [String]
        let accessGroups: [String]
        let keyValueStore: String?
        let team: String?
        let isReadable: Bool
    }

    /// The rows: each app with its parts below it, in the order of the projects.
    var rows: [ReportedTarget] {
        var order: [Key] = []
        var members: [Key: [(program: SignedProgram, family: AppFamily?)]] = [:]
        func add(_ program: SignedProgram, _ family: AppFamily?) {
            let key = key(of: program, in: family)
            if members[key] == nil { order.append(key) }
            members[key, default: []].append((program, family))
        }
        let families = programs.families
        let placed = Set(families.flatMap { $0.members.map(\.id) })
        for app in unique((families.filter { $0.app.kind == .app } + families).map(\.app.id)) {
            let own = families.filter { $0.app.id == app }
            for family in own { add(family.app, family) }
            for part in unique(own.flatMap { $0.parts.map(\.id) }) {
                for family in own { for member in family.parts where member.id == part { add(member, family) } }
            }
        }
        for program in programs.all where !placed.contains(program.id) { add(program, nil) }
        let configurations = Dictionary(grouping: programs.all, by: \.id).mapValues {
            Set($0.compactMap(\.configuration))
        }
        return order.compactMap { key in members[key].map { row($0, outOf: configurations[key.id]?.count ?? 0) } }
    }

    private func key(of program: SignedProgram, in family: AppFamily?) -> Key {
        Key(
            id: program.id, app: family.flatMap { $0.app.id == program.id ? nil : $0.app.id },
            groups: shown(program.groups), accessGroups: shown(program.accessGroups),
            keyValueStore: program.keyValueStore?.shown, team: program.team, isReadable: program.isReadable)
    }

    private func row(
        _ members: [(program: SignedProgram, family: AppFamily?)], outOf configurations: Int
    ) -> ReportedTarget {
        let first = members[0].program, family = members[0].family
        let own = unique(members.compactMap(\.program.configuration))
        return ReportedTarget(
            name: first.name, project: first.project, kind: first.kind,
            app: family.flatMap { $0.app.id == first.id ? nil : $0.app.name },
            platforms: unique(members.compactMap(\.program.platform)),
            configurations: own.count == configurations ? [] : own,
            bundleIdentifiers: unique(members.compactMap(\.program.bundleIdentifier)).map(HeldIdentifier.shown),
            team: first.team,
            entitlements: unique(members.compactMap { $0.program.entitlements.file?.path }).map {
                ProjectPath.relative($0, to: root)
            },
            groups: shown(first.groups), accessGroups: shown(first.accessGroups),
            keyValueStore: first.keyValueStore?.shown, isSandboxed: members.compactMap(\.program.isSandboxed).first,
            missingGroups: Set(members.flatMap { missing($0.program, $0.family) }).sorted(),
            missingAccessGroups: Set(members.flatMap { missingAccess($0.program, $0.family) }).sorted(),
            isReadable: first.isReadable)
    }

    /// Returns the groups of its app that a program lacks; for an app, those of one of its extensions. A program with
    /// unknown entitlements lacks nothing.
    private func missing(_ program: SignedProgram, _ family: AppFamily?) -> [String] {
        guard let family, program.isReadable else { return [] }
        let others: [SignedProgram]
        if family.app.id == program.id {
            others = family.parts
        } else {
            others = program.kind.sharesWithItsApp ? [family.app] : []
        }
        return Set(others.flatMap { shown($0.groups) }).subtracting(shown(program.groups)).sorted()
    }

    private func missingAccess(_ program: SignedProgram, _ family: AppFamily?) -> [String] {
        guard let family, family.app.id != program.id else { return [] }
        return shown(family.app.accessGroups(notIn: program))
    }

    private func shown(_ identifiers: [HeldIdentifier]) -> [String] { unique(identifiers.map(\.shown)) }

    private func unique<Value: Hashable>(_ values: [Value]) -> [Value] {
        var seen: Set<Value> = []
        return values.filter { seen.insert($0).inserted }
    }
}
