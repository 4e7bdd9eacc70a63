/// What a program is entitled to: its groups, checked.
///
/// On Linux no kernel enforces them. They are the program's own statement of what it belongs to, and keep it from
/// opening another group by mistake: see ``EntitlementPolicy``.
public struct Entitlements: Sendable, Hashable {
    /// The app groups that it belongs to, in the order of the file.
    public let applicationGroups: [AppGroup]
    /// The access groups that it may use besides: those of `keychain-access-groups`, without patterns.
    public let accessGroups: [AccessGroup]
    /// Patterns in `keychain-access-groups`, such as `ABCDE12345.*`, which a provisioning profile grants.
    public let accessGroupPatterns: [AccessGroupPattern]
    /// Who it is: `ABCDE12345.com.example.app`; nil where the file does not say.
    public let applicationIdentifier: String?

    /// Puts entitlements together by hand.
    ///
    /// - Parameter applicationIdentifier: Counts as an access group where it is `<team identifier>.<name>`.
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
    /// Whether the program belongs to an app group.
    public func holds(_ group: AppGroup) -> Bool { applicationGroups.contains(group) }

    /// Whether the program may use an access group: one of `keychain-access-groups`, its own application identifier, or
    /// an app group that it belongs to.
    public func holds(_ group: AccessGroup) -> Bool {
        allAccessGroups.contains(group) || accessGroupPatterns.contains { $0.matches(group) }
    }

    /// Every access group by name, in the order that Apple's keychain looks at them: those of `keychain-access-groups`, the
    /// application identifier, the app groups.
    ///
    /// Source: Apple, "Sharing access to keychain items among a collection of apps".
    public var allAccessGroups: [AccessGroup] {
        accessGroups + (ownAccessGroup.map { [$0] } ?? []) + applicationGroups.map(AccessGroup.init)
    }

    /// Where Apple's keychain puts an item that names no access group: the first of ``allAccessGroups`` that is no app
    /// group; nil where there is none.
    public var defaultAccessGroup: AccessGroup? {
        accessGroups.first { $0.teamIdentifier != nil } ?? ownAccessGroup
    }

    /// The group that only this program is in.
    private var ownAccessGroup: AccessGroup? {
        let own = applicationIdentifier.flatMap { try? AccessGroup($0) }
        // An app group's name here would open the vault of a group that the program does not belong to.
        return own?.teamIdentifier == nil ? nil : own
    }
}

/// Whose entitlements decide which groups may be opened.
///
/// Entitlements are a check against mistakes, as on a simulator: on Linux the kernel enforces none of them. What keeps
/// others out are the container's modes and the vault's keys.
public enum EntitlementPolicy: Sendable, Hashable {
    /// Those of this program, where it has any (see ``Entitlements/ofThisProgram()``); a program without opens every group.
    case program
    /// These.
    case given(Entitlements)
    /// None: for tools that look after groups of others.
    case unchecked

    /// Refuses an app group that the entitlements do not hold.
    ///
    /// - Throws: ``AppGroupError`` `notEntitled`, with the groups that they do hold and the nearest match; what
    ///   ``Entitlements/ofThisProgram()`` throws.
    package func require(_ group: AppGroup) throws(AppGroupError) {
        guard let entitlements = try entitlements(), !entitlements.holds(group) else { return }
        throw .notEntitled(group, entitlements)
    }

    /// Refuses an access group that the entitlements do not hold.
    ///
    /// - Throws: ``AppGroupError`` as ``require(_:)-(AppGroup)``.
    package func require(_ group: AccessGroup) throws(AppGroupError) {
        guard let entitlements = try entitlements(), !entitlements.holds(group) else { return }
        throw .notEntitled(group, entitlements)
    }

    /// The entitlements that decide; nil where every group may be opened.
    package func entitlements() throws(AppGroupError) -> Entitlements? {
        switch self {
        case .program: try Entitlements.ofThisProgram()
        case .given(let entitlements): entitlements
        case .unchecked: nil
        }
    }
}

/// An access group, or all whose identifiers begin alike: `ABCDE12345.com.example.app`, `ABCDE12345.*`.
///
/// Provisioning profiles grant by patterns. The asterisk stands for the last components, one at least, and only behind a
/// team identifier and a dot.
public struct AccessGroupPattern: Hashable, Sendable, CustomStringConvertible {
    /// The pattern as it is written.
    public let pattern: String

    /// The pattern as it is written.
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

    /// The pattern that one access group alone matches.
    public init(_ accessGroup: AccessGroup) { pattern = accessGroup.identifier }

    /// Whether more than one access group may match.
    public var isWildcard: Bool { pattern.hasSuffix(Self.wildcard) }

    /// Whether an access group is one of those.
    ///
    /// An app group of the registered form matches only its own name: it has no team.
    public func matches(_ accessGroup: AccessGroup) -> Bool {
        guard isWildcard else { return accessGroup.identifier == pattern }
        return accessGroup.identifier.hasPrefix(pattern.dropLast())
    }

    private static let wildcard = ".*"
}
