public import FoundationEssentials
public import SealedState

/// What the app tells its widget about the account: whether somebody is signed in, who, and until when.
///
/// The token itself is not in here: a widget needs to know that there is one, not what it is.
public struct WidgetAuthState: SealedRecord, Equatable {
    /// Its place in the container.
    public static let recordName = "widget_auth_state"
    /// The version of this shape.
    public static let schemaVersion = 1

    /// Whether somebody is signed in.
    public var isAuthenticated: Bool
    /// Who, as the widget greets them: one line of at most ``longestName`` characters.
    public var displayName: String?
    /// When the token runs out.
    public var tokenExpiresAt: Date?

    /// The longest name that a widget has room for, in characters.
    public static let longestName = 64

    /// Signed in until the token runs out.
    public static func signedIn(as name: String, until expiry: Date) -> Self {
        Self(isAuthenticated: true, displayName: name, tokenExpiresAt: expiry)
    }

    /// Nobody is signed in; nothing of the last account stays.
    public static let signedOut = Self(isAuthenticated: false, displayName: nil, tokenExpiresAt: nil)

    /// A signed-in state is true for as long as its token; a signed-out one for ever.
    public var expiresAt: Date? { isAuthenticated ? tokenExpiresAt : nil }

    /// Who is signed in has a name and an end; a name fits the widget.
    public func validate() throws(ValidationFailure) {
        var violations: [(field: String, reason: String)] = []
        if isAuthenticated, displayName == nil {
            violations.append(("displayName", "somebody who is signed in has a name"))
        }
        if isAuthenticated, tokenExpiresAt == nil {
            violations.append(("tokenExpiresAt", "a sign-in has an end"))
        }
        if let displayName { violations += Self.faults(of: displayName).map { ("displayName", $0) } }
        guard violations.isEmpty else { throw ValidationFailure(violations) }
    }

    /// What a widget could not show, or should not: a control character could redraw what stands around the name.
    private static func faults(of name: String) -> [String] {
        var faults: [String] = []
        if name.allSatisfy(\.isWhitespace) { faults.append("it is blank") }
        if name.count > longestName { faults.append("it has more than \(longestName) characters") }
        if name.unicodeScalars.contains(where: isUnprintable) { faults.append("it has unprintable characters") }
        return faults
    }

    private static func isUnprintable(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.properties.generalCategory {
        case .control, .lineSeparator, .paragraphSeparator, .surrogate, .unassigned: true
        case .format: scalar != "\u{200D}"  // joins the parts of one character in names and emoji
        default: false
        }
    }
}
