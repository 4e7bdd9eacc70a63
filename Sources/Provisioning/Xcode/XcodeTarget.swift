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

    /// What it is on a platform: an app that is built for watches is a watch app, however its project calls it.
    func kind(on platform: BuildPlatform?) -> TargetKind {
        kind == .app && platform == .watchOS ? .watchApp : kind
    }
}

/// One of a target's ways to be built: `Debug`, `Release`, or any other name.
struct XcodeConfiguration: Sendable {
    let name: String
    /// Every assignment that counts for it: the project's, then the target's; of several that apply the last one wins, and
    /// `$(inherited)` in it is the one before.
    let assignments: [SettingAssignment]
    /// Settings files that are included if they are there, and are not: they may give any setting a value.
    let absentFiles: [String]
    /// Settings files that have to be there and are not.
    let missingFiles: [String]
}
