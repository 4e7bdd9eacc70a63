/// What an identifier is meant to be.
///
/// It decides the nouns and the example of a refusal, nothing else.
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

    /// One sentence with a correct example.
    var advice: String {
        switch self {
        case .appGroup: "Write group.<name> or <team identifier>.<name>, for example group.com.example.app."
        case .accessGroup: "Write <team identifier>.<name> or an app group, for example ABCDE12345.com.example.app."
        case .team: "Write ten characters of A-Z and 0-9, for example ABCDE12345."
        }
    }
}
