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
    /// - Throws: ``AppGroupError`` with the codes of ``AppGroup/init(_:)`` that concern the name.
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
        return "its team identifier contains a character other than A-Z and 0-9"
    }
}

/// The grammar that app groups and access groups share.
///
///     identifier = prefix "." name
///     prefix     = "group" / 10( A-Z / 0-9 )
///     name       = component *( "." component )
///     component  = 1*( A-Z / a-z / 0-9 / "-" / "_" ), neither beginning nor ending with "-"
///
/// A valid identifier is safe as one component of a path: it contains no separator or control character, does not begin
/// with a dot or a hyphen, and is short enough for appended suffixes.
struct IdentifierParser {
    /// The longest identifier in bytes.
    ///
    /// An identifier names a directory and a file. `NAME_MAX` on Linux is 255 bytes, and the remaining 55 are for
    /// suffixes: a vault's extension, its lock's, and a temporary file's random affix.
    static let maximumLength = 200

    static let registeredPrefix = "group"

    let text: String
    let kind: IdentifierKind

    /// Returns the form of the identifier, or throws its fault.
    func parse() throws(AppGroupError) -> AppGroup.Form {
        guard !text.isEmpty else { throw refusal(.emptyIdentifier, "it is empty") }
        let length = text.utf8.count
        guard length <= Self.maximumLength else {
            throw refusal(.tooLong, "it has \(length) bytes and the limit is \(Self.maximumLength)")
        }
        try checkCharacters()
        guard text != ".", text != ".." else { throw refusal(.pathTraversal, "it is the path of a directory") }

        let dot = text.firstIndex(of: ".") ?? text.endIndex
        let form = try form(ofPrefix: text[..<dot])
        try checkName(text[dot...].dropFirst())
        return form
    }

    /// Rejects the first scalar outside the alphabet.
    private func checkCharacters() throws(AppGroupError) {
        // The common case is decided on bytes; only a rejection needs scalars and their Unicode properties.
        if text.utf8.allSatisfy(\.isAllowedInIdentifier) { return }
        for (offset, scalar) in text.unicodeScalars.enumerated() {
            if scalar.isASCII, UInt8(scalar.value).isAllowedInIdentifier { continue }
            throw refusal(of: scalar, at: offset + 1)
        }
    }

    private func refusal(of scalar: Unicode.Scalar, at position: Int) -> AppGroupError {
        let shown = DisplayText.identifier(String(scalar))
        switch scalar.properties.generalCategory {
        // Format characters count as control characters: a bidirectional override makes one identifier look like
        // another.
        case .control, .format, .lineSeparator, .paragraphSeparator:
            return refusal(.controlCharacter, "character \(position) is the control character \(shown)")
        case .spaceSeparator:
            return refusal(.invalidCharacter, "character \(position) is a space, which is never trimmed")
        default:
            break
        }
        switch scalar {
        case "/", "\\":
            return refusal(.pathTraversal, "character \(position), \"\(shown)\", separates paths")
        case "$":
            return refusal(
                .invalidCharacter, "character \(position) is \"$\", so a build setting in it was not expanded")
        default:
            return refusal(
                .invalidCharacter,
                "character \(position), \"\(shown)\", is not one of A-Z, a-z, 0-9, \".\", \"-\" and \"_\"")
        }
    }

    private func form(ofPrefix prefix: Substring) throws(AppGroupError) -> AppGroup.Form {
        if prefix == Self.registeredPrefix { return .registered }
        if TeamIdentifier.isWellFormed(prefix) { return .teamPrefixed }
        if prefix.isEmpty { throw refusal(.emptyComponent, "it begins with a dot") }
        if prefix.lowercased() == Self.registeredPrefix {
            throw refusal(.missingPrefix, "\"\(prefix)\" must be written \"group\", in lower case")
        }
        if TeamIdentifier.isLikelyIntended(prefix) {
            throw refusal(.invalidTeamIdentifier, TeamIdentifier.fault(in: prefix))
        }
        throw refusal(.missingPrefix, "it does not begin with \"group.\" or with a team identifier and a dot")
    }

    private func checkName(_ name: Substring) throws(AppGroupError) {
        guard !name.isEmpty else { throw refusal(.emptyName, "no name follows its prefix") }
        for component in name.split(separator: ".", omittingEmptySubsequences: false) {
            guard !component.isEmpty else {
                throw refusal(.emptyComponent, "it has two dots in a row or a dot at its end")
            }
            guard component.first != "-", component.last != "-" else {
                throw refusal(.invalidCharacter, "\"\(component)\" begins or ends with a hyphen")
            }
        }
    }

    private func refusal(_ code: AppGroupError.Code, _ reason: String) -> AppGroupError {
        AppGroupError(code, text, in: kind, because: reason)
    }
}

/// The intended kind of an identifier.
///
/// The kind only determines the nouns and the example of a rejection.
enum IdentifierKind {
    case appGroup
    case accessGroup
    case team

    var operation: String {
        switch self {
        case .appGroup: "read an app group identifier"
        case .accessGroup: "read an access group identifier"
        case .team: "read a team identifier"
        }
    }

    /// The advice, with a correct example.
    var advice: String {
        switch self {
        case .appGroup: "Write group.<name> or <team identifier>.<name>, for example group.com.example.app."
        case .accessGroup: "Write <team identifier>.<name> or an app group, for example ABCDE12345.com.example.app."
        case .team: "Write ten characters of A-Z and 0-9, for example ABCDE12345."
        }
    }
}

// The alphabet of identifiers. ASCII only: no two different identifiers look alike, and no file system normalises one
// into the other.
extension UInt8 {
    var isDigit: Bool { self >= UInt8(ascii: "0") && self <= UInt8(ascii: "9") }

    var isUpperCaseLetterOrDigit: Bool { isDigit || (self >= UInt8(ascii: "A") && self <= UInt8(ascii: "Z")) }

    var isLetterOrDigit: Bool {
        isUpperCaseLetterOrDigit || (self >= UInt8(ascii: "a") && self <= UInt8(ascii: "z"))
    }

    var isAllowedInIdentifier: Bool {
        isLetterOrDigit || self == UInt8(ascii: ".") || self == UInt8(ascii: "-") || self == UInt8(ascii: "_")
    }
}
