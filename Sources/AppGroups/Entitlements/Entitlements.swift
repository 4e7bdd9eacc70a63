/// What a program is entitled to: its groups, checked.
public struct Entitlements: Sendable, Hashable {
    /// The app groups that it belongs to, in the order of the file.
    public let applicationGroups: [AppGroup]
    /// The access groups that it may use besides: those of `keychain-access-groups`.
    public let accessGroups: [AccessGroup]
    /// Who it is: `ABCDE12345.com.example.app`; nil where the file does not say.
    public let applicationIdentifier: String?

    /// Puts entitlements together by hand.
    public init(
        applicationGroups: [AppGroup], accessGroups: [AccessGroup] = [], applicationIdentifier: String? = nil
    ) {
        self.applicationGroups = applicationGroups
        self.accessGroups = accessGroups
        self.applicationIdentifier = applicationIdentifier
    }
}
