internal import SealedState
internal import SharedFiles

extension StoreError {
    static let plaintextImport = "move in"

    /// Returns the error for a source whose contents cannot be moved.
    static func malformed(_ source: String, _ reason: String, advice: String? = nil) -> StoreError {
        StoreError(.sourceMalformed, plaintextImport, source.printable, reason, advice: advice)
    }

    /// Returns the error for a source that cannot be moved.
    static func unusable(_ source: String, _ reason: String, advice: String? = nil) -> StoreError {
        StoreError(.sourceUnusable, plaintextImport, source.printable, reason, advice: advice)
    }

    /// Creates the error for a source that the file system refused to read.
    init(reading error: FileError, _ source: String) {
        self.init(
            .sourceUnusable, Self.plaintextImport, source.printable, error.sentence, advice: error.advice,
            errno: error.errno, cause: error)
    }

    /// Returns the error for a target with different contents.
    static func occupied(_ source: String, _ target: String, _ reason: String) -> StoreError {
        StoreError(
            .conflict, plaintextImport, source.printable, "\(target.printable) exists already, and \(reason).",
            advice: "Compare both; then remove one of them, or replace the existing one.")
    }
}

extension Collection where Element == String {
    /// A list of a few names for messages; names, never values.
    var shortList: String { shortList(", ") }

    func shortList(_ separator: String, most: Int = 8) -> String {
        let shown = sorted().prefix(most).map { $0.printable }.joined(separator: separator)
        return count > most ? "\(shown) and \(count - most) more" : shown
    }
}
