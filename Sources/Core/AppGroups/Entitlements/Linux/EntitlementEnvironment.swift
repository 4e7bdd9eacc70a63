internal import Glibc
internal import SharedFiles

/// The variables that say which entitlements are this program's.
enum EntitlementEnvironment {
    /// The path of an entitlements file; absolute.
    static let file = "SEALED_ENTITLEMENTS"
    /// The team identifier that build settings in the file stand for.
    static let team = "SEALED_TEAM_ID"
    /// The bundle identifier that build settings in the file stand for.
    static let bundle = "SEALED_BUNDLE_ID"

    /// The variables that are set in this process.
    ///
    /// Nothing in a program that has more rights than its caller: the caller could otherwise say which groups it opens.
    /// - Throws: ``AppGroupError`` with `unusableEntitlements` for a value that is not UTF-8.
    static func read() throws(AppGroupError) -> [String: String] {
        var values: [String: String] = [:]
        // Asked as well: a program may have changed its ids since it was started.
        guard getuid() == geteuid(), getgid() == getegid() else { return values }
        for name in [file, team, bundle] {
            guard let pointer = SecureEnvironment.value(name) else { continue }
            guard let value = String(validatingCString: pointer) else { throw .unreadableVariable(name) }
            values[name] = value
        }
        return values
    }
}
