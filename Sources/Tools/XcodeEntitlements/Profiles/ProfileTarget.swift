/// What a target needs of its profile; what is nil or empty is not compared.
public struct ProfileTarget: Sendable, Hashable {
    /// The bundle identifier, expanded: `com.example.app`.
    public var bundleIdentifier: String?
    /// The team, ten characters.
    public var teamIdentifier: String?
    /// The app groups of its entitlements.
    public var applicationGroups: [String]
    /// The keychain access groups of its entitlements, with the team's prefix in place of variables.
    public var keychainAccessGroups: [String]
    /// The key-value store identifier of its entitlements.
    public var keyValueStoreIdentifier: String?
    /// Whether it is meant to run under a debugger.
    public var allowsDebugging: Bool?

    /// Puts a target together; every part may be left out.
    public init(
        bundleIdentifier: String? = nil, teamIdentifier: String? = nil, applicationGroups: [String] = [],
        keychainAccessGroups: [String] = [], keyValueStoreIdentifier: String? = nil, allowsDebugging: Bool? = nil
    ) {
        self.bundleIdentifier = bundleIdentifier
        self.teamIdentifier = teamIdentifier
        self.applicationGroups = applicationGroups
        self.keychainAccessGroups = keychainAccessGroups
        self.keyValueStoreIdentifier = keyValueStoreIdentifier
        self.allowsDebugging = allowsDebugging
    }
}
