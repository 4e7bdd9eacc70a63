/// Finds secrets in bytes by one pass over all keywords and a check of each hit's surroundings.
package struct SecretSearcher: Sendable {
    /// The shared searcher for every rule.
    package static let standard = SecretSearcher()

    private let engine = SearchEngine(SecretRules.detectors)

    private init() {}

    /// Returns whether the bytes can contain a secret, a wrapped carrier, or an escape that hides one. If not, no other
    /// search of them finds anything, regardless of their structure.
    package func isSuspicious(_ bytes: UnsafeRawBufferPointer) -> Bool {
        var pass = SuspicionPass(engine, SearchText(bytes))
        return pass.run()
    }

    /// Searches running text or arbitrary bytes, in which names and values are separated by the characters between
    /// them.
    ///
    /// Matches come in order and do not overlap.
    /// - Parameter found: Returns `false` to stop.
    package func search(_ text: UnsafeRawBufferPointer, _ found: (SecretMatch) -> Bool) {
        var pass = SearchPass(engine, SearchText(text))
        pass.run(found)
    }

    /// Searches as `search(_:_:)` does, and returns the runs in the text that may be carriers in letters.
    ///
    /// A run in base64 may continue over line ends. Runs come in order and do not overlap.
    package func searchAll(_ text: UnsafeRawBufferPointer, _ found: (SecretMatch) -> Void) -> [WrappedRun] {
        var pass = SearchPass(engine, SearchText(text), withRuns: true)
        pass.run {
            found($0)
            return true
        }
        return pass.runs
    }

    /// Judges one value of a structure by its contents and its name.
    ///
    /// Secrets with a form of their own are found within the value. Otherwise the whole value is judged by its name.
    package func judge(_ value: UnsafeRawBufferPointer, named name: UnsafeRawBufferPointer?) -> [SecretMatch] {
        var matches: [SecretMatch] = []
        search(value) {
            matches.append($0)
            return matches.count < Self.mostMatchesInValue
        }
        guard matches.isEmpty, let name else { return matches }
        let text = SearchText(value)
        let start = text.end(of: .space, from: 0)
        let range = start..<max(start, text.start(of: .space, before: text.count))
        let match =
            WebKeyMember.match(text, range, named: SearchText(name))
            ?? FieldJudge.match(text, range, named: SearchText(name), .structured)
        return match.map { [$0] } ?? []
    }

    private static let mostMatchesInValue = 64
}

/// A secret that was found: its range, its rule and its certainty.
package struct SecretMatch: Sendable, Hashable {
    /// The rule that found it.
    package let rule: SecretRule
    /// The range of the secret within the searched bytes.
    package let range: Range<Int>
    package let certainty: Certainty
    /// The time at which the secret expires, in seconds since 1970, if it contains one.
    package let expires: Int64?

    package init(rule: SecretRule, range: Range<Int>, certainty: Certainty, expires: Int64? = nil) {
        self.rule = rule
        self.range = range
        self.certainty = certainty
        self.expires = expires
    }

    /// The certainty of a match.
    package enum Certainty: Int, Sendable, Hashable, Comparable {
        /// The value looks like a secret: it has the name of one, and is not obviously harmless.
        case possible
        /// The value has the form or the entropy of a secret.
        case likely
        /// The value has a unique form: a checksum fits, a key parses.
        case certain

        package static func < (a: Certainty, b: Certainty) -> Bool { a.rawValue < b.rawValue }
    }
}
