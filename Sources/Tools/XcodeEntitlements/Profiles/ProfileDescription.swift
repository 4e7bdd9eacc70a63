internal import AppGroups
package import PropertyLists
internal import SharedFiles

/// The description of a profile for a terminal: labels and values.
package struct ProfileDescription {
    /// A labelled fact.
    package struct Line: Hashable {
        /// The label in a word or two.
        package let label: String
        /// The value, safe to print.
        package let value: String
    }

    /// The lines in the order of interest.
    package let lines: [Line]

    /// - Parameter date: The current date, which determines what has expired.
    package init(_ profile: ProvisioningProfile, at date: PropertyListDate) {
        let facts =
            Self.identity(of: profile) + Self.times(of: profile, at: date) + Self.allowed(by: profile)
            + profile.certificates.map { ("certificate", Self.text($0, at: date)) } + [
                ("signature", profile.signature.title)
            ]
        lines = facts.compactMap { label, value in value.map { Line(label: label, value: $0.printable) } }
    }

    private typealias Fact = (label: String, value: String?)

    private static func identity(of profile: ProvisioningProfile) -> [Fact] {
        let teams = profile.teamIdentifiers.joined(separator: ", ")
        let names = [profile.applicationIdentifier, profile.applicationIdentifierName.map { "(\($0))" }]
        return [
            ("name", profile.name), ("uuid", profile.uuid),
            ("kind", profile.kind.title + (profile.isXcodeManaged ? ", managed by Xcode" : "")),
            ("platforms", joined(profile.platforms)),
            ("team", joined([teams, profile.teamName.map { "(\($0))" } ?? ""].filter { !$0.isEmpty }, " ")),
            ("app id", joined(names.compactMap(\.self), " ")),
        ]
    }

    private static func times(of profile: ProvisioningProfile, at date: PropertyListDate) -> [Fact] {
        let days = ProfileDay.count(from: date, to: profile.expires)
        let end = days < 0 ? "expired \(counted(-days, "day")) ago" : "in \(counted(days, "day"))"
        return [
            ("created", ProfileDay.text(profile.created)), ("expires", "\(ProfileDay.text(profile.expires)), \(end)"),
        ]
    }

    private static func allowed(by profile: ProvisioningProfile) -> [Fact] {
        let entitlements = profile.entitlements
        let devices =
            profile.provisionsAllDevices ? "all" : profile.provisionedDeviceCount.map { counted($0, "device") }
        return [
            ("devices", devices), ("debugging", profile.allowsDebugging ? "allowed" : "not allowed"),
            ("app groups", joined(entitlements.applicationGroups ?? [])),
            ("access groups", joined(entitlements.keychainAccessGroups ?? [])),
            ("key-value store", entitlements.keyValueStoreIdentifier),
        ]
    }

    private static func text(_ certificate: ProfileCertificate, at date: PropertyListDate) -> String {
        let end = ProfileDay.text(certificate.notAfter)
        let state = certificate.isValid(at: date) ? "until \(end)" : "not valid (until \(end))"
        return "\(certificate.title), \(state)"
    }

    private static func joined(_ texts: [String], _ separator: String = ", ") -> String? {
        texts.isEmpty ? nil : texts.joined(separator: separator)
    }

    private static func counted(_ number: Int, _ noun: String) -> String {
        "\(number) \(noun)\(number == 1 ? "" : "s")"
    }
}

/// Formatting of a profile's dates: the day in UTC.
enum ProfileDay {
    /// `2026-11-21`.
    static func text(_ date: PropertyListDate) -> String { CivilTime(date).dayText }

    /// Returns the whole days from one date to another, negative if `end` is before `start`.
    static func count(from start: PropertyListDate, to end: PropertyListDate) -> Int {
        Int(((end.secondsSince2001 - start.secondsSince2001) / 86_400).rounded(.down))
    }
}
