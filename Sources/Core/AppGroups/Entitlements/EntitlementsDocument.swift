public import PropertyLists

/// An `.entitlements` file, or the entitlements of a provisioning profile, as it stands: nothing in it is checked but types.
///
/// Build settings in it, such as `$(AppIdentifierPrefix)`, are not expanded; ``Entitlements/init(_:variables:)`` does that,
/// and checks every identifier.
public struct EntitlementsDocument: Sendable, Hashable {
    /// `com.apple.security.application-groups`; nil where the key is missing.
    public let applicationGroups: [String]?
    /// `keychain-access-groups`; nil where the key is missing.
    public let keychainAccessGroups: [String]?
    /// `application-identifier`, or `com.apple.application-identifier` where there is only that.
    public let applicationIdentifier: String?
    /// `com.apple.developer.team-identifier`.
    public let teamIdentifier: String?
    /// `com.apple.developer.ubiquity-kvstore-identifier`.
    public let keyValueStoreIdentifier: String?
    /// `com.apple.security.app-sandbox`; nil where the key is missing.
    public let isSandboxed: Bool?
    /// Every key of the file, known or not, sorted.
    public let keys: [String]

    private let values: [String: PropertyListValue]

    /// Takes a property list for entitlements.
    ///
    /// - Throws: ``AppGroupError`` `malformedEntitlements` where it is no dictionary, or a key above holds another type.
    public init(_ list: PropertyListValue) throws(AppGroupError) {
        guard case .dictionary(let values) = list else {
            throw .malformedEntitlements("entitlements", "its top level is no dictionary")
        }
        let reader = EntitlementReader(values: values)
        applicationGroups = try reader.strings(EntitlementKey.applicationGroups)
        keychainAccessGroups = try reader.strings(EntitlementKey.keychainAccessGroups)
        let identifier = try reader.string(EntitlementKey.applicationIdentifier)
        let macIdentifier = try reader.string(EntitlementKey.macApplicationIdentifier)
        applicationIdentifier = identifier ?? macIdentifier
        teamIdentifier = try reader.string(EntitlementKey.teamIdentifier)
        keyValueStoreIdentifier = try reader.string(EntitlementKey.keyValueStoreIdentifier)
        isSandboxed = try reader.bool(EntitlementKey.appSandbox)
        keys = values.keys.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
        self.values = values
    }

    /// What a key holds; nil where it is missing.
    package subscript(key: String) -> PropertyListValue? { values[key] }
}

/// Takes values of known types out of a dictionary.
private struct EntitlementReader {
    let values: [String: PropertyListValue]

    func string(_ key: String) throws(AppGroupError) -> String? {
        guard let value = values[key] else { return nil }
        guard case .string(let text) = value else { throw .malformedEntitlements(key, "its value is no string") }
        return text
    }

    func strings(_ key: String) throws(AppGroupError) -> [String]? {
        guard let value = values[key] else { return nil }
        guard case .array(let elements) = value else { throw .malformedEntitlements(key, "its value is no array") }
        var texts: [String] = []
        for (index, element) in elements.enumerated() {
            guard case .string(let text) = element else {
                throw .malformedEntitlements(key, "entry \(index + 1) of its array is no string")
            }
            texts.append(text)
        }
        return texts
    }

    func bool(_ key: String) throws(AppGroupError) -> Bool? {
        guard let value = values[key] else { return nil }
        guard case .bool(let flag) = value else {
            throw .malformedEntitlements(key, "its value is neither true nor false")
        }
        return flag
    }
}
