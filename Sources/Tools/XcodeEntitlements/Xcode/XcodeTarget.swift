/// A target of an Xcode project.
struct XcodeTarget: Sendable {
    let id: String
    let name: String
    let kind: TargetKind
    let configurations: [XcodeConfiguration]
    /// The ids of the targets that it depends on.
    let dependencies: [String]
    /// The ids of the targets whose products are copied into its own.
    let embedded: [String]
    /// The id of what it makes.
    let product: String?
    /// Targets of other projects that it depends on, or whose products are copied into its own.
    let foreign: [ForeignTarget]

    /// What it is on a platform: an app that is built for watches is a watch app, however its project calls it.
    func kind(on platform: BuildPlatform?) -> TargetKind {
        kind == .app && platform == .watchOS ? .watchApp : kind
    }
}

/// A target of another project, as a project names it.
struct ForeignTarget: Sendable, Hashable {
    /// The other's `project.pbxproj`.
    let project: String
    /// The id of the target or of its product there.
    let id: String
    let name: String
    /// Whether its product is copied, and is a program.
    let isEmbedded: Bool
}

/// One of a target's ways to be built: `Debug`, `Release`, or any other name.
struct XcodeConfiguration: Sendable {
    let name: String
    /// Every assignment that counts for it: the project's, then the target's. The project's are in memory once.
    let levels: [[SettingAssignment]]
    /// Settings files that are included if they are there, and are not: they may give any setting a value.
    let absentFiles: [String]
    /// Settings files that have to be there and are not.
    let missingFiles: [String]

    /// Of several that apply the last one wins, and `$(inherited)` in it is the one before.
    var assignments: FlattenSequence<[[SettingAssignment]]> { levels.joined() }
}
