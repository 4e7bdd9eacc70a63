/// The keys of entitlements that decide what programs share; the one place that spells them.
package enum EntitlementKey {
    package static let applicationGroups = "com.apple.security.application-groups"
    package static let keychainAccessGroups = "keychain-access-groups"
    /// On iOS, watchOS and tvOS.
    package static let applicationIdentifier = "application-identifier"
    /// On macOS.
    package static let macApplicationIdentifier = "com.apple.application-identifier"
    package static let teamIdentifier = "com.apple.developer.team-identifier"
    package static let keyValueStoreIdentifier = "com.apple.developer.ubiquity-kvstore-identifier"
    package static let appSandbox = "com.apple.security.app-sandbox"
}
