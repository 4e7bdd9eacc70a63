/// Names that records and files of credentials go by.
enum CredentialName {
    private static let words: Set<String> = [
        "token", "tokens", "session", "sessions", "credential", "credentials", "jwt", "bearer", "apikey", "cookie",
        "cookies",
        "accesstoken", "refreshtoken", "authtoken", "idtoken", "sessiontoken", "oauth",
    ]
    /// `token_count` counts, and `session-settings` sets: the last word tells what it is.
    private static let others: Set<String> = ["count", "settings", "state", "status", "list", "kind", "type", "limit"]

    /// Whether the last segment of a record's name says that it holds one: `accounts/ada/access-token`.
    static func matches(_ name: some StringProtocol) -> Bool {
        let segment = name.split(separator: "/").last ?? ""
        let words = NameWords.of(segment)
        guard let last = words.last, !others.contains(last) else { return false }
        return words.contains { self.words.contains($0) } || self.words.contains(words.joined())
    }
}
