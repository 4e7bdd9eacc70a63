/// The version of the whole project; `CHANGELOG.md` says what is in it.
enum SealedStateVersion {
    static let current = "0.1.0"
}
