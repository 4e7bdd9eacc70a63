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
    /// - Throws: ``AppGroupError`` with `emptyIdentifier`, or `invalidTeamIdentifier` for everything else that is not
    ///   ten characters of `A`–`Z` and `0`–`9`. Nothing is trimmed and no letter is raised to upper case.
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

    /// Whether somebody most likely meant `text` as a team identifier: all capitals and digits in another number
    /// (`TEAMID` copied from a manual), or ten characters with a digit that are partly in lower case.
    ///
    /// It only chooses the wording and code of a refusal, never whether there is one.
    static func isLikelyIntended(_ text: Substring) -> Bool {
        let bytes = text.utf8
        if bytes.isEmpty { return false }
        if bytes.allSatisfy(\.isUpperCaseLetterOrDigit) { return true }
        return bytes.count == length && bytes.allSatisfy(\.isLetterOrDigit) && bytes.contains(where: \.isDigit)
    }

    /// What is wrong with `text` as a team identifier, as the rest of a sentence about it.
    static func fault(in text: Substring) -> String {
        guard text.utf8.count == length else {
            return "its team identifier has \(text.count) characters instead of \(length)"
        }
        return "its team identifier holds something other than A-Z and 0-9"
    }
}
