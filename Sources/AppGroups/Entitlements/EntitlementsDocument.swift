public import PropertyLists

/// An `.entitlements` file, or the entitlements of a provisioning profile, as it stands: nothing in it is checked but types.
public struct EntitlementsDocument: Sendable, Hashable {
    /// `com.apple.security.application-groups`; nil where the key is missing.
    public let applicationGroups: [String]?
    /// `keychain-access-groups`; nil where the key is missing.
    public let keychainAccessGroups: [String]?
    /// `application-identifier` or `com.apple.application-identifier`.
    public let applicationIdentifier: String?
    /// `com.apple.developer.team-identifier`.
    public let teamIdentifier: String?
    /// `com.apple.developer.ubiquity-kvstore-identifier`.
    public let keyValueStoreIdentifier: String?
    /// `com.apple.security.app-sandbox`; nil where the key is missing.
    public let isSandboxed: Bool?
    /// Every key of the file, in order.
    public let keys: [String]

    /// Takes a property list for entitlements.
    ///
    /// - Throws: ``AppGroupError`` `malformedEntitlements` where it is no dictionary, or a key above holds another type.
    public init(_ list: PropertyListValue) throws(AppGroupError) {
        applicationGroups = nil
        keychainAccessGroups = nil
        applicationIdentifier = nil
        teamIdentifier = nil
        keyValueStoreIdentifier = nil
        isSandboxed = nil
        keys = []
    }
}
