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
