/// The grammar that app groups and access groups share.
///
///     identifier = prefix "." name
///     prefix     = "group" / 10( A-Z / 0-9 )
///     name       = component *( "." component )
///     component  = 1*( A-Z / a-z / 0-9 / "-" / "_" ), neither beginning nor ending with "-"
///
/// An identifier that passes is safe as one component of a path: it holds no separator, no control character, does
/// not begin with a dot or a hyphen, and is short enough for what others append to it.
struct IdentifierParser {
    /// The longest identifier in bytes.
    ///
    /// An identifier is a directory's and a file's name. `NAME_MAX` on Linux is 255 bytes, and the 55 that remain
    /// are for what is added to the name: a vault's extension, its lock's, and a temporary file's random affix.
    static let maximumLength = 200

    static let registeredPrefix = "group"

    let text: String
    let kind: IdentifierKind

    /// Returns which form the identifier has, or throws why it has none.
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

    /// Refuses the first scalar outside the alphabet.
    private func checkCharacters() throws(AppGroupError) {
        // The common case is decided on bytes; only a refusal looks at scalars and their Unicode properties.
        if text.utf8.allSatisfy(\.isAllowedInIdentifier) { return }
        for (offset, scalar) in text.unicodeScalars.enumerated() {
            if scalar.isASCII, UInt8(scalar.value).isAllowedInIdentifier { continue }
            throw refusal(of: scalar, at: offset + 1)
        }
    }

    private func refusal(of scalar: Unicode.Scalar, at position: Int) -> AppGroupError {
        let shown = DisplayText.identifier(String(scalar))
        switch scalar.properties.generalCategory {
        // Format characters count as control characters: a bidirectional override makes one identifier look like another.
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
