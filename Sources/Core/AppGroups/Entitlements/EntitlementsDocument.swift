public import PropertyLists
internal import SharedFiles

/// An `.entitlements` file, or the entitlements of a provisioning profile, with only its types checked.
///
/// Build settings in it, such as `$(AppIdentifierPrefix)`, are not expanded; ``Entitlements/init(_:variables:)``
/// expands them and checks every identifier.
public struct EntitlementsDocument: Sendable, Hashable {
    /// `com.apple.security.application-groups`; nil if the key is missing.
    public let applicationGroups: [String]?
    /// `keychain-access-groups`; nil if the key is missing.
    public let keychainAccessGroups: [String]?
    /// `application-identifier`, or else `com.apple.application-identifier`.
    public let applicationIdentifier: String?
    /// `com.apple.developer.team-identifier`.
    public let teamIdentifier: String?
    /// `com.apple.developer.ubiquity-kvstore-identifier`.
    public let keyValueStoreIdentifier: String?
    /// `com.apple.security.app-sandbox`; nil if the key is missing.
    public let isSandboxed: Bool?
    /// Every key of the file, known or not, sorted.
    public let keys: [String]

    private let values: [String: PropertyListValue]

    /// Creates a document from a property list.
    ///
    /// - Throws: ``AppGroupError`` `malformedEntitlements` if it is not a dictionary, or a key above has another type.
    public init(_ list: PropertyListValue) throws(AppGroupError) {
        guard case .dictionary(let values) = list else {
            throw .malformedEntitlements("entitlements", "its top level is not a dictionary")
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

    /// Returns the value of a key; nil if it is missing.
    package subscript(key: String) -> PropertyListValue? { values[key] }
}

/// Extracts values of known types from a dictionary.
private struct EntitlementReader {
    let values: [String: PropertyListValue]

    func string(_ key: String) throws(AppGroupError) -> String? {
        guard let value = values[key] else { return nil }
        guard case .string(let text) = value else { throw .malformedEntitlements(key, "its value is not a string") }
        return text
    }

    func strings(_ key: String) throws(AppGroupError) -> [String]? {
        guard let value = values[key] else { return nil }
        guard case .array(let elements) = value else { throw .malformedEntitlements(key, "its value is not an array") }
        var texts: [String] = []
        for (index, element) in elements.enumerated() {
            guard case .string(let text) = element else {
                throw .malformedEntitlements(key, "entry \(index + 1) of its array is not a string")
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

extension EntitlementsDocument {
    /// More structure than any program's entitlements have, and little enough to be rejected quickly.
    private static let limits = StructureLimits(depth: 32, values: 20_000, size: 1 << 20)

    /// Reads entitlements from a property list's bytes, XML or binary.
    ///
    /// - Throws: ``AppGroupError`` `malformedEntitlements`, also for a property list in the old text format, in which
    ///   every value is text.
    public init(parsing bytes: UnsafeRawBufferPointer) throws(AppGroupError) {
        let list: PropertyListValue
        let format: PropertyListFormat
        do throws(StructureFault) {
            (list, format) = try PropertyList.parse(bytes, limits: Self.limits)
        } catch {
            throw .malformedEntitlements(AppGroupError.wholeFile, error.reason.clause)
        }
        guard format != .openStep else {
            throw .malformedEntitlements(
                AppGroupError.wholeFile, "it is a property list in the old text format, not XML or binary")
        }
        try self.init(list)
    }

    /// Reads entitlements from a property list's bytes, XML or binary.
    ///
    /// - Throws: ``AppGroupError`` `malformedEntitlements`.
    public init(parsing bytes: [UInt8]) throws(AppGroupError) {
        let result = bytes.withUnsafeBytes { buffer -> Result<EntitlementsDocument, AppGroupError> in
            do throws(AppGroupError) { return .success(try EntitlementsDocument(parsing: buffer)) } catch {
                return .failure(error)
            }
        }
        self = try result.get()
    }

    /// Reads an `.entitlements` file.
    ///
    /// Reads only a regular file of at most 1 MiB; follows no final link, and does not wait for a FIFO.
    /// - Throws: ``AppGroupError`` `malformedEntitlements`; `file` if it cannot be read, with the cause as
    ///   `underlying`.
    public static func read(path: String) throws(AppGroupError) -> EntitlementsDocument {
        let bytes: [UInt8]
        do throws(FileError) { bytes = try EntitlementsFile(path: path).read() } catch {
            throw .unreadableEntitlements(error)
        }
        do throws(AppGroupError) { return try EntitlementsDocument(parsing: bytes) } catch { throw error.inFile(path) }
    }
}

/// The entitlement keys that determine sharing between programs; the only place that spells them.
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
