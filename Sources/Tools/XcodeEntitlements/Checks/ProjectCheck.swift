public import PropertyLists
internal import SharedFiles

/// Checks what the programs of Xcode projects share: their app groups, keychain access groups, key-value stores and
/// provisioning profiles.
///
/// It reads files and nothing else: no Xcode, no Mac, no network.
public struct ProjectCheck: Sendable {
    /// The team that signs, in place of `DEVELOPMENT_TEAM`; nil takes each project's own.
    public var team: String?
    /// Profiles besides those among the paths.
    public var profiles: [String] = []

    /// A check without settings of its own.
    public init() {}

    /// Checks everything below the paths.
    ///
    /// - Parameters:
    ///   - paths: Folders, `.xcodeproj` packages, `project.pbxproj`, `.entitlements` and profile files.
    ///   - date: When profiles have to be valid, in seconds since 1 January 2001.
    /// - Throws: ``ProvisioningError`` `file` where a path does not exist or cannot be read, `notAProject` where it is
    ///   none of these. What is wrong inside of them is a finding.
    public func run(_ paths: [String], at date: PropertyListDate) throws(ProvisioningError) -> ProjectReport {
        var places = ProjectPlaces()
        for path in paths { try places.add(path) }
        for profile in profiles { try places.add(profile) }
        return ProjectCheckRun(places: places, team: team, date: date).report
    }
}
