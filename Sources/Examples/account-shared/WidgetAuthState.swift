public import FoundationEssentials
public import SealedState

/// The account state that the app shares with its widget: the signed-in user and the end of the sign-in.
///
/// The token itself is not included: a widget needs to know only that it exists.
public struct WidgetAuthState: SealedRecord, Equatable {
    /// The record's name in the container.
    public static let recordName = "widget_auth_state"
    /// The version of the record's schema.
    public static let schemaVersion = 1

    /// `true` if a user is signed in.
    public var isAuthenticated: Bool
    /// The user's name in the widget: one line of at most ``longestName`` characters.
    public var displayName: String?
    /// The expiry time of the token.
    public var tokenExpiresAt: Date?

    /// The longest name that fits the widget, in characters.
    public static let longestName = 64

    /// Returns a state that is signed in until the token expires.
    public static func signedIn(as name: String, until expiry: Date) -> Self {
        Self(isAuthenticated: true, displayName: name, tokenExpiresAt: expiry)
    }

    /// The signed-out state, without any data of the last account.
    public static let signedOut = Self(isAuthenticated: false, displayName: nil, tokenExpiresAt: nil)

    /// The end of a signed-in state's validity, that of its token; nil for a signed-out state.
    public var expiresAt: Date? { isAuthenticated ? tokenExpiresAt : nil }

    /// Checks that a signed-in state has a name and an expiry, and that the name fits the widget.
    public func validate() throws(ValidationFailure) {
        var violations: [(field: String, reason: String)] = []
        if isAuthenticated, displayName == nil {
            violations.append(("displayName", "a signed-in state must have a name"))
        }
        if isAuthenticated, tokenExpiresAt == nil {
            violations.append(("tokenExpiresAt", "a signed-in state must have an expiry time"))
        }
        if let displayName { violations += Self.faults(of: displayName).map { ("displayName", $0) } }
        guard violations.isEmpty else { throw ValidationFailure(violations) }
    }

    /// Returns the reasons why a name cannot be shown. A control character could redraw the text around the name.
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
