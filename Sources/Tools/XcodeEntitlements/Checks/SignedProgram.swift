internal import AppGroups

/// A target as signed in one configuration for one platform, or an entitlements file that no project uses.
struct SignedProgram: Sendable {
    /// The target's identifier, the same for all of its configurations and platforms.
    let id: ProgramID
    let name: String
    /// The project's name, or `nil` without a project.
    let project: String?
    let kind: TargetKind
    /// The configuration's name, or `nil` without a project.
    let configuration: String?
    let platform: BuildPlatform?
    let bundleIdentifier: String?
    /// The team, or `nil` if unknown.
    let team: String?
    let entitlements: EntitlementsReference
    let groups: [HeldIdentifier]
    let accessGroups: [HeldIdentifier]
    let keyValueStore: HeldIdentifier?
    let isSandboxed: Bool?
    /// The name or UUID of the profile that the project specifies.
    let profile: String?
    /// The targets that may be inside this one.
    let parts: [ProgramID]
    /// True if settings may come from a file that is not checked in.
    let hasAbsentSettings: Bool
    /// The place of findings on a program without an entitlements file: the project.
    let place: String

    /// The entitlements, or `nil` without a readable file.
    var document: EntitlementsDocument? { entitlements.file?.document }

    var groupTexts: [String] { groups.map(\.text) }

    /// The file of findings on the program.
    var path: String { entitlements.file?.path ?? place }
}

/// A target, identified by the project's path and the target's id, or a file, identified by its path.
struct ProgramID: Hashable, Sendable {
    let project: String
    let target: String
}

/// The entitlements file that `CODE_SIGN_ENTITLEMENTS` refers to.
enum EntitlementsReference: Sendable {
    /// The setting has no value.
    case none
    case found(EntitlementsFile, differsInCase: Bool)
    /// The file does not exist.
    case missing(String)
    /// The file cannot be read.
    case refused(String, ProjectFault)

    var file: EntitlementsFile? {
        if case .found(let file, _) = self { file } else { nil }
    }
}

/// An identifier of an entitlements file, as written and as signed.
struct HeldIdentifier: Sendable, Hashable {
    let raw: String
    /// The expanded identifier. Undefined settings remain as written.
    let text: String
    /// The undefined settings.
    let undefined: [String]
    /// The settings that only other configurations define. Each is expanded to nothing.
    let emptied: [String]
    let line: Int?

    /// The identifier for display, with `<team>` for an unknown team.
    var shown: String { Self.shown(text) }

    static func shown(_ text: String) -> String {
        text.split(separator: BuildSettings.unknownTeam, omittingEmptySubsequences: false).joined(separator: "<team>")
    }

    /// True if the identifier can be judged, because no unresolved references remain.
    var isExpanded: Bool { !text.contains("$") }
}
