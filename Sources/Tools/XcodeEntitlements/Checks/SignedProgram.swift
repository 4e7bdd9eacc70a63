internal import AppGroups

/// A target as it is signed in one configuration for one platform, or an entitlements file that no project uses.
struct SignedProgram: Sendable {
    /// Which target: the same for all of its configurations and platforms.
    let id: ProgramID
    let name: String
    /// The project's name; nil without one.
    let project: String?
    let kind: TargetKind
    /// Nil without a project.
    let configuration: String?
    let platform: BuildPlatform?
    let bundleIdentifier: String?
    /// Nil where it is not known.
    let team: String?
    let entitlements: EntitlementsReference
    let groups: [HeldIdentifier]
    let accessGroups: [HeldIdentifier]
    let keyValueStore: HeldIdentifier?
    let isSandboxed: Bool?
    /// The profile that the project names, by name or UUID.
    let profile: String?
    /// The targets that may lie in this one.
    let parts: [ProgramID]
    /// Whether settings may come from a file that is not checked in.
    let hasAbsentSettings: Bool
    /// Where findings on it point when it has no entitlements file: the project.
    let place: String

    /// What groups the document lists at all: nil without the key.
    var document: EntitlementsDocument? { entitlements.file?.document }

    var groupTexts: [String] { groups.map(\.text) }

    /// The file that a finding on it is about.
    var path: String { entitlements.file?.path ?? place }
}

/// A target of a project, by the project's path and the target's id; or a file by its path.
struct ProgramID: Hashable, Sendable {
    let project: String
    let target: String
}

/// What `CODE_SIGN_ENTITLEMENTS` leads to.
enum EntitlementsReference: Sendable {
    /// The setting has no value.
    case none
    case found(EntitlementsFile, differsInCase: Bool)
    /// No file has that path.
    case missing(String)
    /// It cannot be read.
    case refused(String, ProjectFault)

    var file: EntitlementsFile? {
        if case .found(let file, _) = self { file } else { nil }
    }
}

/// An identifier of an entitlements file, as it is written and as it is signed.
struct HeldIdentifier: Sendable, Hashable {
    let raw: String
    /// Expanded; settings that nothing defines stand in it as they are written.
    let text: String
    /// Those settings.
    let undefined: [String]
    /// Settings that other configurations define and this one does not: nothing stands in their place.
    let emptied: [String]
    let line: Int?

    /// For people: an unknown team is said to be one.
    var shown: String { Self.shown(text) }

    static func shown(_ text: String) -> String {
        text.split(separator: BuildSettings.unknownTeam, omittingEmptySubsequences: false).joined(separator: "<team>")
    }

    /// Whether it can be judged: references that are left in it stand for anything.
    var isExpanded: Bool { !text.contains("$") }
}
