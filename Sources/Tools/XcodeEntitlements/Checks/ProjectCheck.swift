public import PropertyLists
internal import SharedFiles

/// Checks the shared items of Xcode projects' programs: their app groups, keychain access groups, key-value stores and
/// provisioning profiles.
///
/// The check only reads files: it requires no Xcode, no Mac and no network.
public struct ProjectCheck: Sendable {
    /// The signing team, in place of `DEVELOPMENT_TEAM`; `nil` uses each project's own.
    public var team: String?
    /// The profiles in addition to those among the paths.
    public var profiles: [String] = []

    /// Creates a check with default settings.
    public init() {}

    /// Checks everything below the paths.
    ///
    /// - Parameters:
    ///   - paths: Folders, `.xcodeproj` packages, `project.pbxproj`, `.entitlements` and profile files.
    ///   - date: The date at which profiles must be valid, in seconds since 1 January 2001.
    /// - Throws: ``ProvisioningError`` `file` if a path does not exist or cannot be read, `notAProject` if it is of
    ///   another kind. Faults inside the files are findings.
    public func run(_ paths: [String], at date: PropertyListDate) throws(ProvisioningError) -> ProjectReport {
        var places = ProjectPlaces()
        for path in paths { try places.add(path) }
        for profile in profiles { try places.add(profile) }
        return ProjectCheckRun(places: places, team: team, date: date).report
    }
}

/// A run of a check over the collected files.
struct ProjectCheckRun {
    private let places: ProjectFinder
    private let root: String
    private let team: String?
    private let date: PropertyListDate

    init(places: ProjectPlaces, team: String?, date: PropertyListDate) {
        var found = places.found
        found.finish()
        self.places = found
        root = places.root
        self.team = team
        self.date = date
    }

    var report: ProjectReport {
        let cache = EntitlementsFileCache()
        let read = projects
        let foreign = ForeignPrograms(read.projects)
        let own = read.projects.flatMap { ProgramReader($0, team: team, cache: cache, foreign: foreign).programs }
        let (loose, unused) = leftOver(own, read.projects)
        let all = own + LooseProgramReader(team: team, cache: cache).programs(loose)
        let programs = ProjectPrograms(
            all, definedSettings: read.projects.reduce(into: []) { $0.formUnion($1.definedSettings) })
        let profiles = profiles
        var findings = FindingCollector(root: root, programs: all)
        for (path, fault) in read.faults {
            findings.add(.projectRefused, path: path, subject: ProjectPath.relative(path, to: root), fault.reason)
        }
        FileCheck(programs: all, projects: read.projects, unused: unused).run(&findings)
        for program in all {
            IdentifierCheck(program: program, definedSettings: programs.definedSettings).run(&findings)
        }
        for family in programs.families { FamilyCheck(family: family).run(&findings) }
        CrossProgramCheck(programs: programs).run(&findings)
        for (path, error) in profiles.faults {
            findings.add(
                .profileRefused, path: path, subject: ProjectPath.leaf(of: path),
                "\(error.subject): \(error.reason.clause).", remedy: error.advice)
        }
        ProfileCheck(programs: all, profiles: profiles.profiles, date: date).run(&findings)
        return ProjectReport(
            root: root, projects: read.projects.map { shown($0.path) },
            profiles: profiles.profiles.map { shown($0.path) },
            targets: ReportedRows(programs: programs, root: root).rows, findings: findings.sorted,
            notes: places.notes + foreign.notes + emptyNotes(all, read.projects)
                + signatureNotes(profiles.profiles.map(\.profile)))
    }

    /// Libraries and tests have no entitlements.
    private func emptyNotes(_ programs: [SignedProgram], _ projects: [XcodeProject]) -> [String] {
        guard programs.isEmpty, !projects.isEmpty else { return [] }
        return ["\(projects.map(\.name).joined(separator: ", ")): nothing in it is signed".printable]
    }

    /// Returns notes on unverified signatures, because a profile's contents are only as reliable as its signature.
    private func signatureNotes(_ profiles: [ProvisioningProfile]) -> [String] {
        let unchecked = profiles.count { $0.signature == .notChecked }
        let refused = profiles.count { if case .refused = $0.signature { true } else { false } }
        return [(unchecked, "not checked"), (refused, "refused")].filter { $0.0 > 0 }.map { count, state in
            "\(count) profile\(count == 1 ? "" : "s"): signature \(state)"
        }
    }

    private func shown(_ path: String) -> String { ProjectPath.relative(path, to: root) }

    private var projects: (projects: [XcodeProject], faults: [(path: String, fault: ProjectFault)]) {
        var projects: [XcodeProject] = []
        var faults: [(path: String, fault: ProjectFault)] = []
        for path in places.projects {
            do throws(ProjectFault) {
                projects.append(try XcodeProject.read(path))
            } catch { faults.append((path, error)) }
        }
        return (projects, faults)
    }

    private var profiles:
        (profiles: [(path: String, profile: ProvisioningProfile)], faults: [(path: String, error: ProvisioningError)])
    {
        var profiles: [(path: String, profile: ProvisioningProfile)] = []
        var faults: [(path: String, error: ProvisioningError)] = []
        for path in places.profiles {
            do throws(ProvisioningError) {
                profiles.append((path, try ProvisioningProfile.read(path: path)))
            } catch { faults.append((path, error)) }
        }
        return (profiles, faults)
    }

    /// Returns the files that no target uses. Outside of every project's folder they are programs of their own.
    private func leftOver(
        _ programs: [SignedProgram], _ projects: [XcodeProject]
    ) -> (loose: [String], unused: [String]) {
        let used = UsedEntitlements(programs, projects, team: team)
        let rest = places.entitlements.filter { !used.contains($0) }
        // An unreadable project may use any of them.
        let folders = places.projects.map { ProjectPath.parent(of: ProjectPath.parent(of: $0)) }
        let isOfProject = { (path: String) in folders.contains { ProjectPath.isInside(path, $0) } }
        return (rest.filter { !isOfProject($0) }, projects.isEmpty ? [] : rest.filter(isOfProject))
    }
}
