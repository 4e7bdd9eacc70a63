/// What is known of a suite's file without opening it.
package enum SuiteStanding: Sendable {
    /// Nobody has written the suite, as far as this user's programs know; or its deletion was purged.
    case unknown
    /// There is a file, good or not.
    case present
    /// The suite was removed: its deletion is in its file's place.
    case removed
    /// Its file is gone, without a deletion.
    case missing
}

extension SuiteFile {
    func standing() throws(StoreError) -> SuiteStanding {
        let store = try followed()
        return switch try store.standing(at: place) {
        case .nothing: store.isMissing(place) ? .missing : .unknown
        case .tombstone: .removed
        case .value, .refused: .present
        }
    }
}
