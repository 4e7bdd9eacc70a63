/// A secret that was found: where, by which rule, and how sure that is.
package struct SecretMatch: Sendable, Hashable {
    /// The rule that found it.
    package let rule: SecretRule
    /// The secret's own bytes, within what was searched.
    package let range: Range<Int>
    package let certainty: Certainty
    /// Until when it can be used, in seconds since 1970, where it says so itself.
    package let expires: Int64?

    package init(rule: SecretRule, range: Range<Int>, certainty: Certainty, expires: Int64? = nil) {
        self.rule = rule
        self.range = range
        self.certainty = certainty
        self.expires = expires
    }

    /// How sure a match is.
    package enum Certainty: Int, Sendable, Hashable, Comparable {
        /// It looks like one: a name that secrets have, and a value that is not obviously harmless.
        case possible
        /// Its form or its entropy speaks for it.
        case likely
        /// Its form is that of nothing else: a checksum fits, a key parses.
        case certain

        package static func < (a: Certainty, b: Certainty) -> Bool { a.rawValue < b.rawValue }
    }
}
