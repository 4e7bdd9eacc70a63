/// What a name promises: `userPassword`, `API_KEY`, `session-id`, `auth.token`.
enum SecretName {
    enum Kind: Sendable, Hashable {
        case password, passphrase, secret, token, apiKey, privateKey, session, credential
        /// A key that may as well be the key of a dictionary.
        case weakKey
        case pin, oneTimeCode, cardNumber, cardCode, socialSecurity, seedPhrase
    }

    /// The kind of secret that has such a name; nil if none has.
    static func kind(of name: SearchText) -> Kind? {
        // `Space::Name` is a type.
        guard name.first("::", in: 0..<name.count) == nil else { return nil }
        let words = NameWords.split(name)
        guard let core = core(of: words) else { return nil }
        guard !words[..<core.words.lowerBound].contains(where: NameWords.disqualifiesBefore) else { return nil }
        let after = words[core.words.upperBound...]
        guard !after.contains(where: NameWords.disqualifiesAfter) else { return nil }
        let mustEnd = NameWords.mustEnd.contains(core.kind) || words[core.words] == ["refresh"]
        return mustEnd && !after.allSatisfy(NameWords.mayFollow.contains) ? nil : core.kind
    }

    private typealias Core = (kind: Kind, words: Range<Int>)

    /// The words that say it is a secret: the last ones that do.
    private static func core(of words: [String]) -> Core? {
        for index in words.indices.reversed() {
            if index > 0, let kind = NameWords.pairs[words[index - 1] + words[index]] {
                return (kind, index - 1..<index + 1)
            }
            if words[index] == "key" || words[index] == "keys" { return keyCore(words, index) }
            if let kind = NameWords.single[words[index]] { return (kind, index..<index + 1) }
            if let kind = suffixKind(words[index]) { return (kind, index..<index + 1) }
        }
        return nil
    }

    private static func keyCore(_ words: [String], _ index: Int) -> Core? {
        guard index > 0 else { return words.count == 1 ? (.weakKey, 0..<1) : nil }
        let before = words[index - 1]
        if NameWords.harmlessKeys.contains(before) { return nil }
        let kind: Kind =
            NameWords.secretKeys.contains(before) ? (before == "private" ? .privateKey : .apiKey) : .weakKey
        return (kind, index..<index + 1)
    }

    /// Of words written together: `accesstoken`, `dbpassword`.
    private static func suffixKind(_ word: String) -> Kind? {
        guard word.utf8.count >= 6 else { return nil }
        return NameWords.suffixes.first { word.hasSuffix($0.0) }?.1
    }
}
