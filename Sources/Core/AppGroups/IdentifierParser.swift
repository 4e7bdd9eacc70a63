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
            throw refusal(.missingPrefix, "\"\(prefix)\" has to be written \"group\", in lower case")
        }
        if TeamIdentifier.isLikelyIntended(prefix) {
            throw refusal(.invalidTeamIdentifier, TeamIdentifier.fault(in: prefix))
        }
        throw refusal(.missingPrefix, "it begins with neither \"group.\" nor a team identifier and a dot")
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
