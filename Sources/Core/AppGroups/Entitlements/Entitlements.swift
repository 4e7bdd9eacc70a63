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
