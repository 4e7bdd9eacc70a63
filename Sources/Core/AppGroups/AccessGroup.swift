/// A vault's partition for a set of programs: `<team identifier>.<name>`, or any app group.
///
/// Every app group is also an access group, as on Apple's platforms. The grammar is the app group's, so an access
/// group names a file as safely as an app group names a directory.
public struct AccessGroup: Hashable, Sendable, CustomStringConvertible {
    /// The whole identifier, for example `ABCDE12345.com.example.app`.
    public let identifier: String

    /// The whole identifier.
    public var description: String { identifier }

    /// Checks an access group's identifier.
    ///
    /// - Throws: ``AppGroupError`` with the codes of ``AppGroup/init(_:)``. A wildcard (`ABCDE12345.*`), which a
    ///   provisioning profile may grant, names no single group and is rejected as `invalidCharacter`.
    public init(_ identifier: String) throws(AppGroupError) {
        self.init(try AppGroup(identifier, as: .accessGroup))
    }

    /// Creates the access group with the identifier of an app group.
    public init(_ appGroup: AppGroup) {
        identifier = appGroup.identifier
    }

    /// Creates an access group of a team: `ABCDE12345.com.example.app`.
    ///
    /// - Throws: ``AppGroupError`` with the codes of ``init(_:)`` that concern the name.
    public init(teamIdentifier: TeamIdentifier, name: String) throws(AppGroupError) {
        try self.init("\(teamIdentifier).\(name)")
    }

    /// - Precondition: The identifier was checked.
    init(wellFormed identifier: String) { self.identifier = identifier }

    /// The team that the identifier begins with; nil for an app group of the registered form.
    public var teamIdentifier: TeamIdentifier? {
        let prefix = identifier.prefix(TeamIdentifier.length)
        // No letter of `group.` is a capital, so the registered form is never well-formed here.
        return TeamIdentifier.isWellFormed(prefix) ? TeamIdentifier(wellFormed: prefix) : nil
    }

    /// Returns whether an app group is this access group.
    public func isSame(as appGroup: AppGroup) -> Bool { identifier == appGroup.identifier }

    /// The app group `group.x` that is most likely meant by `ABCDE12345.group.x`; nil for all other identifiers.
    ///
    /// Xcode writes `$(AppIdentifierPrefix)` before keychain access groups, and people do so before app groups. The
    /// result is another access group that only shares the name: in the keychain an app group has its own identifier.
    public var appGroupWithTeamPrefix: AppGroup? {
        guard teamIdentifier != nil else { return nil }
        let rest = try? AppGroup(String(identifier.dropFirst(TeamIdentifier.length + 1)))
        return rest?.form == .registered ? rest : nil
    }
}

/// A developer team's identifier: ten characters, `A` to `Z` and `0` to `9`.
///
/// It is the first component of the macOS form of an app group and of a keychain access group.
public struct TeamIdentifier: Hashable, Sendable, CustomStringConvertible {
    /// The number of characters of every team identifier.
    public static let length = 10

    /// The ten characters.
    public let identifier: String

    /// The ten characters.
    public var description: String { identifier }

    /// Checks a team identifier.
    ///
    /// - Throws: ``AppGroupError`` with `emptyIdentifier`, or `invalidTeamIdentifier` for all other text that is not
    ///   ten characters of `A`–`Z` and `0`–`9`. The text is neither trimmed nor converted to upper case.
    public init(_ identifier: String) throws(AppGroupError) {
        guard !identifier.isEmpty else {
            throw AppGroupError(.emptyIdentifier, identifier, in: .team, because: "it is empty")
        }
        guard Self.isWellFormed(identifier[...]) else {
            throw AppGroupError(.invalidTeamIdentifier, identifier, in: .team, because: Self.fault(in: identifier[...]))
        }
        self.identifier = identifier
    }

    /// - Precondition: `isWellFormed(text)`.
    init(wellFormed text: Substring) {
        assert(Self.isWellFormed(text))
        identifier = String(text)
    }

    static func isWellFormed(_ text: Substring) -> Bool {
        text.utf8.count == length && text.utf8.allSatisfy(\.isUpperCaseLetterOrDigit)
    }

    /// Returns whether `text` is most likely meant as a team identifier: all capitals and digits in another number
    /// (`TEAMID` copied from a manual), or ten characters with a digit that are partly in lower case.
    ///
    /// The result only selects the wording and code of a rejection.
    static func isLikelyIntended(_ text: Substring) -> Bool {
        let bytes = text.utf8
        if bytes.isEmpty { return false }
        if bytes.allSatisfy(\.isUpperCaseLetterOrDigit) { return true }
        return bytes.count == length && bytes.allSatisfy(\.isLetterOrDigit) && bytes.contains(where: \.isDigit)
    }

    /// Returns the fault of `text` as a team identifier, as the rest of a sentence about it.
    static func fault(in text: Substring) -> String {
        guard text.utf8.count == length else {
            return "its team identifier has \(text.count) characters instead of \(length)"
        }
        return "its team identifier holds something other than A-Z and 0-9"
    }
}
