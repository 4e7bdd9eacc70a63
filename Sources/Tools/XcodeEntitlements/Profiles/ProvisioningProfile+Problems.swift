internal import AppGroups
public import PropertyLists

extension ProvisioningProfile {
    /// Returns the problems with signing a target with this profile at a date.
    ///
    /// - Parameter target: The requirements of the target; `nil` checks the profile alone.
    /// - Returns: The problems in a fixed order: the profile's own, then the target's.
    public func problems(at date: PropertyListDate, for target: ProfileTarget? = nil) -> [ProfileProblem] {
        var problems = timeProblems(at: date) + certificateProblems(at: date)
        if case .refused(let reason) = signature { problems.append(.signatureRefused(reason)) }
        guard let target else { return problems }
        problems += identityProblems(of: target)
        problems += target.applicationGroups.filter { !holds(applicationGroup: $0) }.map {
            .groupAbsent($0, held: entitlements.applicationGroups ?? [])
        }
        problems += target.keychainAccessGroups.filter { !holds(accessGroup: $0) }.map {
            .accessGroupAbsent($0, held: entitlements.keychainAccessGroups ?? [])
        }
        if let wanted = target.keyValueStoreIdentifier, !holds(keyValueStore: wanted) {
            problems.append(.keyValueStoreAbsent(wanted, held: entitlements.keyValueStoreIdentifier))
        }
        return problems + debuggingProblems(of: target)
    }

    private func timeProblems(at date: PropertyListDate) -> [ProfileProblem] {
        if date.secondsSince2001 >= expires.secondsSince2001 { return [.expired(expires)] }
        if date.secondsSince2001 < created.secondsSince2001 { return [.notYetValid(created)] }
        return []
    }

    private func certificateProblems(at date: PropertyListDate) -> [ProfileProblem] {
        let invalid = certificates.filter { !$0.isValid(at: date) }
        if !certificates.isEmpty && invalid.count == certificates.count { return [.noValidCertificate(invalid)] }
        return invalid.map { .certificateExpired($0) }
    }

    private func identityProblems(of target: ProfileTarget) -> [ProfileProblem] {
        var problems: [ProfileProblem] = []
        // A profile without teams does not permit every team.
        let teams = teamIdentifiers.isEmpty ? applicationIdentifierPrefixes : teamIdentifiers
        if let team = target.teamIdentifier, !teams.contains(team) {
            problems.append(.wrongTeam(team, held: teams))
        }
        if let bundle = target.bundleIdentifier, let held = bundleIdentifier, !WildcardIdentifier(held).matches(bundle)
        {
            problems.append(.wrongApplication(bundle, held: held))
        }
        return problems
    }

    private func debuggingProblems(of target: ProfileTarget) -> [ProfileProblem] {
        guard let wanted = target.allowsDebugging, wanted != allowsDebugging else { return [] }
        return [wanted ? .debuggingRefused(kind) : .debuggingAllowed(kind)]
    }
}

// The profile's contents.
extension ProvisioningProfile {
    /// The application identifier without its prefix: `com.example.app`, `com.example.*`, `*`.
    public var bundleIdentifier: String? {
        guard let applicationIdentifier, let dot = applicationIdentifier.firstIndex(of: ".") else { return nil }
        return String(applicationIdentifier[applicationIdentifier.index(after: dot)...])
    }

    /// Returns whether a target signed with the profile may belong to an app group.
    ///
    /// On a Mac, a group of the same team (`ABCDE12345.name`) requires no profile. On other platforms the profile must
    /// list it.
    public func holds(applicationGroup group: String) -> Bool {
        if Self.any(of: entitlements.applicationGroups, matches: group) { return true }
        guard isForMac, let known = try? AppGroup(group), let team = known.teamIdentifier else { return false }
        return (teamIdentifiers + applicationIdentifierPrefixes).contains(team.identifier)
    }

    /// Returns whether a target signed with the profile may use a keychain access group: a listed one, its own
    /// application identifier, or one of its app groups.
    public func holds(accessGroup group: String) -> Bool {
        Self.any(of: entitlements.keychainAccessGroups, matches: group)
            || Self.any(of: applicationIdentifier.map { [$0] }, matches: group)
            || Self.any(of: entitlements.applicationGroups, matches: group)
    }

    /// Returns whether a target signed with the profile may use a key-value store.
    public func holds(keyValueStore identifier: String) -> Bool {
        Self.any(of: entitlements.keyValueStoreIdentifier.map { [$0] }, matches: identifier)
    }

    private static func any(of patterns: [String]?, matches identifier: String) -> Bool {
        (patterns ?? []).contains { WildcardIdentifier($0).matches(identifier) }
    }
}

/// An identifier of a profile, which may end in an asterisk: `ABCDE12345.com.example.app`, `ABCDE12345.com.example.*`,
/// `ABCDE12345.*`.
///
/// The asterisk matches one character or more, including dots, and only at the end. At other positions it is a literal.
struct WildcardIdentifier {
    let pattern: String

    init(_ pattern: String) { self.pattern = pattern }

    var isWildcard: Bool { pattern.utf8.last == UInt8(ascii: "*") }

    /// Compares bytes: identifiers are case-sensitive.
    func matches(_ identifier: String) -> Bool {
        guard isWildcard else { return pattern.utf8.elementsEqual(identifier.utf8) }
        let prefix = pattern.utf8.dropLast()
        return identifier.utf8.count > prefix.count && identifier.utf8.starts(with: prefix)
    }
}

/// The requirements of a target on its profile. Values that are `nil` or empty are not compared.
public struct ProfileTarget: Sendable, Hashable {
    /// The bundle identifier, expanded: `com.example.app`.
    public var bundleIdentifier: String?
    /// The team identifier of ten characters.
    public var teamIdentifier: String?
    /// The app groups of its entitlements.
    public var applicationGroups: [String]
    /// The keychain access groups of its entitlements, with the team's prefix in place of variables.
    public var keychainAccessGroups: [String]
    /// The key-value store identifier of its entitlements.
    public var keyValueStoreIdentifier: String?
    /// True if it is meant to run under a debugger.
    public var allowsDebugging: Bool?

    /// Creates the requirements of a target. Every part may be omitted.
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
