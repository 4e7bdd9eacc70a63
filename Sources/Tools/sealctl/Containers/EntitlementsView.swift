internal import AppGroups
internal import XcodeEntitlements

/// What an entitlements document says, for people and machines.
struct EntitlementsView {
    private let document: EntitlementsDocument

    init(_ document: EntitlementsDocument) { self.document = document }

    var text: String {
        var fields = FieldList()
        fields.add("app groups", Self.words(document.applicationGroups))
        fields.add("access groups", Self.words(document.keychainAccessGroups))
        fields.add("key-value store", document.keyValueStoreIdentifier ?? "-")
        fields.add("application", document.applicationIdentifier ?? "-")
        fields.add("team", document.teamIdentifier ?? "-")
        fields.add("sandbox", document.isSandboxed.map { $0 ? "yes" : "no" } ?? "-")
        fields.add("keys", document.keys.joined(separator: ", "))
        return fields.text
    }

    /// A missing key and an empty list are two things.
    private static func words(_ list: [String]?) -> String {
        guard let list else { return "-" }
        return list.isEmpty ? "none: the list is empty" : list.joined(separator: ", ")
    }

    var json: JSONText {
        .object([
            ("applicationGroups", Self.list(document.applicationGroups)),
            ("keychainAccessGroups", Self.list(document.keychainAccessGroups)),
            ("keyValueStoreIdentifier", .optional(document.keyValueStoreIdentifier)),
            ("applicationIdentifier", .optional(document.applicationIdentifier)),
            ("teamIdentifier", .optional(document.teamIdentifier)),
            ("isSandboxed", document.isSandboxed.map { .bool($0) } ?? .null),
            ("keys", Self.list(document.keys)),
        ])
    }

    private static func list(_ texts: [String]?) -> JSONText {
        texts.map { .array($0.map { .string($0) }) } ?? .null
    }
}

/// What a profile says, for machines.
struct ProfileView {
    private let profile: ProvisioningProfile

    init(_ profile: ProvisioningProfile) { self.profile = profile }

    var json: JSONText {
        .object([
            ("name", .string(profile.name)), ("uuid", .string(profile.uuid)), ("kind", .string(profile.kind.rawValue)),
            ("applicationIdentifier", .optional(profile.applicationIdentifier)),
            ("teamIdentifiers", .array(profile.teamIdentifiers.map { .string($0) })),
            ("teamName", .optional(profile.teamName)),
            ("platforms", .array(profile.platforms.map { .string($0) })),
            ("created", .string(Timestamp(profile.creationDate).rfc3339)),
            ("expires", .string(Timestamp(profile.expirationDate).rfc3339)),
            ("isXcodeManaged", .bool(profile.isXcodeManaged)),
            ("certificates", .array(profile.certificates.map { .optional($0.commonName) })),
            ("signature", .string(profile.signature.title)),
            ("entitlements", EntitlementsView(profile.entitlements).json),
        ])
    }
}
