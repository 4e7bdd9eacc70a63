internal import SealedState
internal import SharedFiles

extension StoreError {
    static let movingIn = "move in"

    /// The source is not what can be moved.
    static func malformed(_ source: String, _ reason: String, advice: String? = nil) -> StoreError {
        StoreError(.sourceMalformed, movingIn, source.printable, reason, advice: advice)
    }

    /// The source is not one that can be moved.
    static func unusable(_ source: String, _ reason: String, advice: String? = nil) -> StoreError {
        StoreError(.sourceUnusable, movingIn, source.printable, reason, advice: advice)
    }

    /// The file system refused to read the source.
    init(reading error: FileError, _ source: String) {
        self.init(
            .sourceUnusable, Self.movingIn, source.printable, error.sentence, advice: error.advice,
            errno: error.errno, cause: error)
    }

    /// What stands in the target's place is something else.
    static func occupied(_ source: String, _ target: String, _ reason: String) -> StoreError {
        StoreError(
            .conflict, movingIn, source.printable, "\(target.printable) is there already, and \(reason).",
            advice: "Look at both; then remove one of them, or replace what is there.")
    }
}
