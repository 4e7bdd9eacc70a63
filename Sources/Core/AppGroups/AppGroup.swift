/// An app group: the identifier that a set of programs belongs to.
///
/// There are two forms, as on Apple's platforms: `group.<name>`, which a developer registers, and `<team
/// identifier>.<name>`, the macOS form that needs no registration. The identifier is case-sensitive, at most 200 bytes
/// of ASCII, and safe as one component of a path. `docs/app-groups.md` specifies the grammar.
///
/// An `AppGroup` can't exist with an identifier that breaks the rules, whether it was written in code or decoded.
public struct AppGroup: Hashable, Sendable, CustomStringConvertible {
    /// The two ways an app group's identifier may begin.
    public enum Form: Hashable, Sendable {
        /// `group.<name>`, registered with the developer account.
        case registered
        /// `<team identifier>.<name>`, used on macOS without registration.
        case teamPrefixed
    }

    /// The longest identifier in bytes, since it names directories and files that need room for affixes.
    public static let maximumLength = IdentifierParser.maximumLength

    /// The whole identifier, for example `group.com.example.app`.
    public let identifier: String

    /// The form of the identifier.
    public let form: Form

    /// The whole identifier.
    public var description: String { identifier }

    /// Checks an app group's identifier.
    ///
    /// - Throws: ``AppGroupError`` with the first fault found: `emptyIdentifier`, `tooLong`, `controlCharacter`,
    ///   `pathTraversal`, `invalidCharacter`, `missingPrefix`, `invalidTeamIdentifier`, `emptyName` or
    ///   `emptyComponent`. The identifier is never trimmed, folded or repaired.
    public init(_ identifier: String) throws(AppGroupError) {
        try self.init(identifier, as: .appGroup)
    }

    init(_ identifier: String, as kind: IdentifierKind) throws(AppGroupError) {
        form = try IdentifierParser(text: identifier, kind: kind).parse()
        self.identifier = identifier
    }

    /// Creates the registered form of a name: `com.example.app` gives `group.com.example.app`.
    ///
    /// - Throws: ``AppGroupError`` with the codes of ``init(_:)`` that concern the name.
    public init(registered name: String) throws(AppGroupError) {
        try self.init("\(IdentifierParser.registeredPrefix).\(name)")
    }

    /// Creates the macOS form: `ABCDE12345.com.example.app`.
    ///
    /// - Throws: ``AppGroupError`` with the codes of ``init(_:)`` that concern the name.
    public init(teamIdentifier: TeamIdentifier, name: String) throws(AppGroupError) {
        try self.init("\(teamIdentifier).\(name)")
    }

    /// The team that the identifier begins with; `nil` in the registered form.
    public var teamIdentifier: TeamIdentifier? {
        switch form {
        case .registered: nil
        case .teamPrefixed: TeamIdentifier(wellFormed: identifier.prefix(TeamIdentifier.length))
        }
    }

    /// The part after the prefix and its dot, for example `com.example.app`.
    public var name: String {
        switch form {
        case .registered: String(identifier.dropFirst(IdentifierParser.registeredPrefix.count + 1))
        case .teamPrefixed: String(identifier.dropFirst(TeamIdentifier.length + 1))
        }
    }
}

extension AppGroup: Codable {
    /// Reads the identifier from a single string and checks it as ``init(_:)`` does.
    ///
    /// - Throws: `DecodingError.dataCorrupted` at the identifier's place, with the ``AppGroupError`` as its underlying
    ///   error; the decoder's error if there is no string.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        let identifier = try container.decode(String.self)
        do throws(AppGroupError) {
            try self.init(identifier)
        } catch {
            throw DecodingError.dataCorrupted(
                .init(codingPath: decoder.codingPath, debugDescription: error.description, underlyingError: error))
        }
    }

    /// Writes the identifier as a single string.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(identifier)
    }
}
