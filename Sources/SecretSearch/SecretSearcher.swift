/// Finds secrets in bytes, by one pass over all keywords and a check of what surrounds each hit.
package struct SecretSearcher: Sendable {
    /// The searcher for every rule; made once.
    package static let standard = SecretSearcher()

    /// Whether anything in the bytes can be a secret, a wrapped carrier, or an escape that hides one. Where not, no other
    /// search of them finds anything, whatever their structure.
    package func isSuspicious(_ bytes: UnsafeRawBufferPointer) -> Bool { true }

    /// Searches running text, or bytes that may be anything: names and values are told apart by what stands between them.
    ///
    /// Matches come in order and do not overlap.
    /// - Parameter found: Returns false to stop.
    package func search(_ text: UnsafeRawBufferPointer, _ found: (SecretMatch) -> Bool) {}

    /// Judges one value of a structure, with what it is called.
    package func judge(_ value: UnsafeRawBufferPointer, named name: UnsafeRawBufferPointer?) -> [SecretMatch] { [] }

    /// The runs in a text, or a value, that may be carriers written in letters.
    package func wrappedRuns(in text: UnsafeRawBufferPointer) -> [WrappedRun] { [] }
}
