/// The value of a field with a secret's name.
struct FieldValue {
    /// The context of a value. The looser its bounds, the more it must look like a secret.
    enum Style: Sendable { case structured, quoted, assigned, loose }

    let text: SearchText
    let style: Style
    let made: TextComposition

    init(_ text: SearchText, _ style: Style) {
        self.text = text
        self.style = style
        made = TextComposition(text)
    }

    /// Returns the certainty that the value is a secret of this kind, or `nil` if it does not look like one.
    func certainty(as kind: SecretName.Kind, named name: SearchText) -> SecretMatch.Certainty? {
        guard text.count <= 4096 else { return nil }
        switch kind {
        case .pin: return isWhole && isDigits(4...12) && !Placeholder.hasRow(of: 4, in: text) ? .possible : nil
        case .cardCode: return isWhole && isDigits(3...4) ? .possible : nil
        case .cardNumber: return CardNumber.isOne(text) ? .likely : nil
        case .socialSecurity: return SocialSecurityNumber.isOne(text) ? .likely : nil
        default: break
        }
        guard !Placeholder.isIn(field: text), !isPlain, !repeats(name) else { return nil }
        switch kind {
        case .password: return password
        case .passphrase: return passphrase ?? password
        case .secret: return token(least: 8) ?? (isWhole ? password : nil)
        case .token: return text.isUUID && !Self.namesUserOrSession(name) ? nil : token(least: 8)
        case .apiKey, .privateKey: return token(least: 8)
        case .session: return token(least: 12)
        case .credential: return strongToken(least: 16)
        case .weakKey: return isHash ? nil : strongToken(least: 20)
        case .oneTimeCode: return oneTimeCode
        case .seedPhrase: return seedPhrase
        case .pin, .cardCode, .cardNumber, .socialSecurity: return nil
        }
    }

    /// True if the end of the value is unambiguous.
    private var isWhole: Bool { style != .loose }

    /// True if quotes or a structure delimit the value.
    private var isBounded: Bool { style == .structured || style == .quoted }

    private var password: SecretMatch.Certainty? {
        guard text.count >= (isBounded ? 4 : 6), text.count <= 128 else { return nil }
        if !isBounded, !text.allSatisfy(.graphic) || looksLikeCode { return nil }
        if made.blanks > 0 { return made.blanks <= 2 && made.digits > 0 && !made.isWords ? .possible : nil }
        if made.isOnlyWords || isIdentifierPath { return nil }
        if made.digits == text.count { return isBounded && text.count >= 6 && !isTime ? .possible : nil }
        if style == .loose, made.digits == 0 || made.letters == 0 { return nil }
        if made.isIdentifier {
            let isVaried = made.digits >= 3 || made.digits >= 2 && made.symbols > 0
            return isBounded || style == .assigned && isVaried ? .possible : nil
        }
        let isMixed = made.digits > 0 && made.letters > 0 && (made.symbols > 0 || made.capitals > 0)
        return isMixed && text.count >= 8 && Entropy.bitsPerByte(text) >= 2.5 ? .likely : .possible
    }

    /// The certainty of a passphrase: at least four lowercase words without the punctuation of a sentence.
    private var passphrase: SecretMatch.Certainty? {
        guard isWhole, made.capitals == 0, text.count >= 15 else { return nil }
        let parts = text.bytes.split { !ByteClass.lowerAlphanumeric.contains($0) }
        guard parts.count >= 4, parts.count <= 12, made.symbols + made.blanks == parts.count - 1 else { return nil }
        return parts.contains { Self.grammar.contains(SearchText(UnsafeRawBufferPointer(rebasing: $0))) }
            ? nil : .likely
    }

    private var seedPhrase: SecretMatch.Certainty? {
        let words = text.bytes.split(separator: UInt8(ascii: " "))
        let fits = words.allSatisfy { (3...8).contains($0.count) && $0.allSatisfy(ByteClass.lower.contains) }
        return fits && [12, 15, 18, 21, 24].contains(words.count) ? .likely : token(least: 16)
    }

    /// Returns whether a token's name refers to a user or a session. UUIDs also number requests and pages.
    private static func namesUserOrSession(_ name: SearchText) -> Bool {
        let words: [StaticString] = ["access", "auth", "refresh", "bearer", "session", "user", "api", "login"]
        return words.contains { name.firstFolded($0, in: 0..<name.count) != nil }
    }

    private var oneTimeCode: SecretMatch.Certainty? {
        guard isWhole else { return nil }
        if isDigits(6...8) { return Placeholder.hasSequence(of: 5, in: text) ? nil : .possible }
        return text.count >= 8 && made.digits > 0 && !made.isIdentifier && made.blanks == 0 ? .possible : nil
    }

    private func token(least: Int) -> SecretMatch.Certainty? {
        guard text.count >= (isBounded ? least : least + 4), made.blanks == 0, text.allSatisfy(.graphic) else {
            return nil
        }
        guard made.digits < text.count, !made.isOnlyWords, !made.isIdentifier, !isIdentifierPath else { return nil }
        if !isBounded, looksLikeCode || made.digits == 0 { return nil }
        if made.digits == 0, text.count < 16 { return nil }
        if text.isUUID { return isWhole ? .possible : nil }
        let entropy = Entropy.bitsPerByte(text)
        guard entropy >= leastEntropy else { return nil }
        return text.count >= 16 ? .likely : .possible
    }

    private func strongToken(least: Int) -> SecretMatch.Certainty? {
        guard text.count >= least, made.digits >= 2, made.letters >= 4, !text.isUUID, text.allSatisfy(.token) else {
            return nil
        }
        guard
            text.bytes.split(whereSeparator: { !ByteClass.alphanumeric.contains($0) }).contains(where: {
                $0.count >= 14
            })
        else { return nil }
        guard token(least: least) != nil, Entropy.bitsPerByte(text) >= (text.allSatisfy(.hex) ? 3.2 : 3.7) else {
            return nil
        }
        return .possible
    }

    /// The entropy that random text of this length nearly always exceeds.
    private var leastEntropy: Float {
        if text.allSatisfy(.hex) { return text.count >= 32 ? 2.9 : 2.4 }
        return text.count >= 20 ? 3.2 : text.count >= 12 ? 2.8 : 2.3
    }

    private static let grammar: WordSet = [
        "the", "your", "you", "please", "enter", "must", "this", "that", "with", "for", "and", "not", "is", "are", "at",
        "to", "of",
        "a", "an", "in", "or", "be", "has", "have", "password", "passphrase",
    ]
}

extension ByteClass {
    static let token = ByteClass.alphanumeric + ByteClass("-_+/=.~:|!")
}
