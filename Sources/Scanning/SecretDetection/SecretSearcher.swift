/// Finds secrets in bytes, by one pass over all keywords and a check of what surrounds each hit.
package struct SecretSearcher: Sendable {
    /// The searcher for every rule; made once.
    package static let standard = SecretSearcher()

    private let engine = SearchEngine(SecretRules.detectors)

    private init() {}

    /// Whether anything in the bytes can be a secret, a wrapped carrier, or an escape that hides one. Where not, no other
    /// search of them finds anything, whatever their structure.
    package func isSuspicious(_ bytes: UnsafeRawBufferPointer) -> Bool {
        var pass = SuspicionPass(engine, SearchText(bytes))
        return pass.run()
    }

    /// Searches running text, or bytes that may be anything: names and values are told apart by what stands between them.
    ///
    /// Matches come in order and do not overlap.
    /// - Parameter found: Returns false to stop.
    package func search(_ text: UnsafeRawBufferPointer, _ found: (SecretMatch) -> Bool) {
        var pass = SearchPass(engine, SearchText(text))
        pass.run(found)
    }

    /// Searches as `search` does, and gathers the runs in the text that may be carriers written in letters.
    ///
    /// A run in base64 may go on over line ends. Runs come in order and do not overlap.
    package func searchAll(_ text: UnsafeRawBufferPointer, _ found: (SecretMatch) -> Void) -> [WrappedRun] {
        var pass = SearchPass(engine, SearchText(text), withRuns: true)
        pass.run {
            found($0)
            return true
        }
        return pass.runs
    }

    /// Judges one value of a structure, with what it is called.
    ///
    /// What has a form of its own is found within the value; else the whole value counts, by its name.
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
