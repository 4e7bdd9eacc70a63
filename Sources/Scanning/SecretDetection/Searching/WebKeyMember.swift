/// The private part of a JSON Web Key as a value of its own: readers of structures call it `jwk.d`, or `jwk.k` of a symmetric one.
enum WebKeyMember {
    static func match(_ text: SearchText, _ value: Range<Int>, named name: SearchText) -> SecretMatch? {
        guard name.count == 5, name.holds("jwk.d", at: 0) || name.holds("jwk.k", at: 0) else { return nil }
        let slice = text.slice(value)
        guard WebKey.isPrivatePart(slice) else { return nil }
        return SecretMatch(rule: KeyRules.jwk, range: value, certainty: .certain)
    }
}
