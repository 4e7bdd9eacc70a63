/// Names that indicate secrets: `userPassword`, `API_KEY`, `session-id`, `auth.token`.
enum SecretName {
    enum Kind: Sendable, Hashable, CaseIterable {
        case password, passphrase, secret, token, apiKey, privateKey, session, credential
        /// A key that may also be a dictionary key.
        case weakKey
        case pin, oneTimeCode, cardNumber, cardCode, socialSecurity, seedPhrase

        /// True if a word of this kind indicates a secret only at the end of a name, or before one of a few words.
        fileprivate var mustEnd: Bool {
            switch self {
            case .session, .credential, .pin, .oneTimeCode, .weakKey: true
            default: false
            }
        }
    }

    /// Returns the kind of secret that a name indicates, or `nil` if it indicates none.
    static func kind(of name: SearchText) -> Kind? {
        // `Space::Name` is a type.
        guard name.first("::", in: 0..<name.count) == nil else { return nil }
        return NameWords.split(name) { kind(of: $0) }
    }

    private static func kind(of words: NameWords) -> Kind? {
        guard let core = core(of: words) else { return nil }
        for index in 0..<core.words.lowerBound where NameVocabulary.before.contains(words[index]) { return nil }
        let mustEnd = core.kind.mustEnd || words[core.words].equals("refresh")
        for index in core.words.upperBound..<words.count {
            if NameVocabulary.after.contains(words[index]) { return nil }
            if mustEnd, !NameVocabulary.mayFollow.contains(words[index]) { return nil }
        }
        return core.kind
    }

    private typealias Core = (kind: Kind, words: Range<Int>)

    /// Returns the last words that indicate a secret.
    private static func core(of words: NameWords) -> Core? {
        for index in (0..<words.count).reversed() {
            let word = words[index]
            if index > 0, let kind = NameVocabulary.pairs[words[index - 1..<index + 1]] {
                return (kind, index - 1..<index + 1)
            }
            if word.equals("key") || word.equals("keys") { return keyCore(words, index) }
            if let kind = NameVocabulary.single[word] { return (kind, index..<index + 1) }
            if let kind = suffixKind(word) { return (kind, index..<index + 1) }
        }
        return nil
    }

    private static func keyCore(_ words: NameWords, _ index: Int) -> Core? {
        guard index > 0 else { return words.count == 1 ? (.weakKey, 0..<1) : nil }
        let before = words[index - 1]
        if NameVocabulary.harmlessKeys.contains(before) { return nil }
        let kind: Kind =
            NameVocabulary.secretKeys.contains(before) ? (before.equals("private") ? .privateKey : .apiKey) : .weakKey
        return (kind, index..<index + 1)
    }

    /// Returns the kind of words written together: `accesstoken`, `dbpassword`.
    private static func suffixKind(_ word: SearchText) -> Kind? {
        guard word.count >= 6 else { return nil }
        return NameVocabulary.suffixes.first { word.holds($0.0, at: word.count - $0.0.utf8CodeUnitCount) }?.1
    }
}

/// The words of a name in lowercase, split by case, digits and punctuation: at most 12, from the last 96 bytes.
struct NameWords {
    private static let longest = 96
    private static let most = 12

    /// The concatenated words.
    private let letters: UnsafeMutableRawBufferPointer
    /// The end offset of each word in `letters`.
    private let ends: UnsafeMutableRawBufferPointer
    /// The number of words before the last 12.
    private let passed: Int
    let count: Int

    /// Calls `body` with the words of a name, which are valid only during the call.
    static func split<Result>(_ name: SearchText, _ body: (NameWords) -> Result) -> Result {
        withUnsafeTemporaryAllocation(byteCount: longest * 2, alignment: 1) { memory in
            body(NameWords(name, .init(rebasing: memory[..<longest]), .init(rebasing: memory[longest...])))
        }
    }

    private init(
        _ name: SearchText, _ letters: UnsafeMutableRawBufferPointer, _ ends: UnsafeMutableRawBufferPointer
    ) {
        var (size, start, words) = (0, 0, 0)
        func finish() {
            guard size > start else { return }
            ends[words] = UInt8(size)
            start = size
            words += 1
        }
        for position in max(0, name.count - Self.longest)..<name.count {
            let byte = name.bytes[position]
            guard byte.isLetter || byte >= 128 else {
                finish()
                continue
            }
            if byte.isCapital {
                let last = name[position - 1]
                if last.isSmall || last.isCapital && name[position + 1].isSmall { finish() }
            }
            letters[size] = byte.lowered
            size += 1
        }
        finish()
        (self.letters, self.ends) = (letters, ends)
        passed = max(0, words - Self.most)
        count = words - passed
    }

    subscript(index: Int) -> SearchText { self[index..<index + 1] }

    /// Returns consecutive words written together.
    subscript(words: Range<Int>) -> SearchText {
        let first = words.lowerBound + passed
        let start = first == 0 ? 0 : Int(ends[first - 1])
        return SearchText(UnsafeRawBufferPointer(letters)).slice(start..<Int(ends[words.upperBound + passed - 1]))
    }
}
