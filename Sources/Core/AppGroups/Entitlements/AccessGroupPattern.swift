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
