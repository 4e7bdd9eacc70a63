/// A program's entitlements: its groups, checked.
///
/// The Linux kernel does not enforce them. They declare a program's membership and prevent it from opening another
/// group by mistake: see ``EntitlementPolicy``.
public struct Entitlements: Sendable, Hashable {
    /// The app groups of the program, in the order of the file.
    public let applicationGroups: [AppGroup]
    /// The further access groups of the program: those of `keychain-access-groups`, without patterns.
    public let accessGroups: [AccessGroup]
    /// Patterns in `keychain-access-groups`, such as `ABCDE12345.*`, which a provisioning profile grants.
    public let accessGroupPatterns: [AccessGroupPattern]
    /// The application identifier, `ABCDE12345.com.example.app`; nil if the file has none.
    public let applicationIdentifier: String?

    /// Creates entitlements from their parts.
    ///
    /// - Parameter applicationIdentifier: Counts as an access group if it is `<team identifier>.<name>`.
    public init(
        applicationGroups: [AppGroup], accessGroups: [AccessGroup] = [], applicationIdentifier: String? = nil
    ) {
        self.init(
            applicationGroups: applicationGroups, accessGroups: accessGroups, accessGroupPatterns: [],
            applicationIdentifier: applicationIdentifier)
    }

    init(
        applicationGroups: [AppGroup], accessGroups: [AccessGroup], accessGroupPatterns: [AccessGroupPattern],
        applicationIdentifier: String?
    ) {
        self.applicationGroups = applicationGroups
        self.accessGroups = accessGroups
        self.accessGroupPatterns = accessGroupPatterns
        self.applicationIdentifier = applicationIdentifier
    }
}

extension Entitlements {
    /// Returns whether the program belongs to an app group.
    public func holds(_ group: AppGroup) -> Bool { applicationGroups.contains(group) }

    /// Returns whether the program may use an access group: one of `keychain-access-groups`, its own application
    /// identifier, or one of its app groups.
    public func holds(_ group: AccessGroup) -> Bool {
        allAccessGroups.contains(group) || accessGroupPatterns.contains { $0.matches(group) }
    }

    /// Every access group by name, in the search order of Apple's keychain: those of `keychain-access-groups`, the
    /// application identifier, the app groups.
    ///
    /// Source: Apple, "Sharing access to keychain items among a collection of apps".
    public var allAccessGroups: [AccessGroup] {
        accessGroups + (ownAccessGroup.map { [$0] } ?? []) + applicationGroups.map(AccessGroup.init)
    }

    /// The access group of an item that names none, as in Apple's keychain: the first of ``allAccessGroups`` that is
    /// not an app group; nil if only app groups are left.
    public var defaultAccessGroup: AccessGroup? {
        accessGroups.first { $0.teamIdentifier != nil } ?? ownAccessGroup
    }

    /// The group of this program alone.
    private var ownAccessGroup: AccessGroup? {
        let own = applicationIdentifier.flatMap { try? AccessGroup($0) }
        // An app group's name here would open the vault of a group that the program does not belong to.
        return own?.teamIdentifier == nil ? nil : own
    }
}

/// The entitlements that determine which groups may be opened.
///
/// Entitlements prevent mistakes, as on a simulator: the Linux kernel enforces none of them. The container's modes and
/// the vault's keys keep others out.
public enum EntitlementPolicy: Sendable, Hashable {
    /// This program's entitlements, if it has any (see ``Entitlements/ofThisProgram()``); a program without opens every
    /// group.
    case program
    /// Explicit entitlements.
    case given(Entitlements)
    /// No check: for tools that manage groups of others.
    case unchecked

    /// Throws an error for an app group that the entitlements do not contain.
    ///
    /// - Throws: ``AppGroupError`` `notEntitled`, with the groups that they contain and the nearest match; the errors
    ///   of ``Entitlements/ofThisProgram()``.
    package func require(_ group: AppGroup) throws(AppGroupError) {
        guard let entitlements = try entitlements(), !entitlements.holds(group) else { return }
        throw .notEntitled(group, entitlements)
    }

    /// Throws an error for an access group that the entitlements do not contain.
    ///
    /// - Throws: ``AppGroupError`` as ``require(_:)-(AppGroup)``.
    package func require(_ group: AccessGroup) throws(AppGroupError) {
        guard let entitlements = try entitlements(), !entitlements.holds(group) else { return }
        throw .notEntitled(group, entitlements)
    }

    /// Returns the decisive entitlements; nil if every group may be opened.
    package func entitlements() throws(AppGroupError) -> Entitlements? {
        switch self {
        case .program: try Entitlements.ofThisProgram()
        case .given(let entitlements): entitlements
        case .unchecked: nil
        }
    }
}

/// An access group, or all with a common prefix: `ABCDE12345.com.example.app`, `ABCDE12345.*`.
///
/// Provisioning profiles grant patterns. The asterisk matches one or more last components, and is valid only after a
/// team identifier and a dot.
public struct AccessGroupPattern: Hashable, Sendable, CustomStringConvertible {
    /// The pattern as written.
    public let pattern: String

    /// The pattern as written.
    public var description: String { pattern }

    /// Checks a pattern.
    ///
    /// - Throws: ``AppGroupError`` with the codes of ``AccessGroup/init(_:)``; `invalidCharacter` also for an asterisk that
    ///   is not the last component, or one without a team identifier before it.
    public init(_ pattern: String) throws(AppGroupError) {
        if pattern.hasSuffix(Self.wildcard) {
            let prefix = String(pattern.dropLast(Self.wildcard.count))
            if (try? TeamIdentifier(prefix)) == nil {
                guard try AppGroup(prefix, as: .accessGroup).form == .teamPrefixed else {
                    throw AppGroupError(
                        .invalidCharacter, pattern, in: .accessGroup,
                        because: "an asterisk stands only behind a team identifier")
                }
            }
        } else {
            _ = try AccessGroup(pattern)
        }
        self.pattern = pattern
    }

    /// Creates the pattern that only one access group matches.
    public init(_ accessGroup: AccessGroup) { pattern = accessGroup.identifier }

    /// `true` if more than one access group may match.
    public var isWildcard: Bool { pattern.hasSuffix(Self.wildcard) }

    /// Returns whether an access group matches.
    ///
    /// An app group of the registered form matches only its own name, since it has no team.
    public func matches(_ accessGroup: AccessGroup) -> Bool {
        guard isWildcard else { return accessGroup.identifier == pattern }
        return accessGroup.identifier.hasPrefix(pattern.dropLast())
    }

    private static let wildcard = ".*"
}
