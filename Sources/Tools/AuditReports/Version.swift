/// The version of the whole project; `CHANGELOG.md` says what is in it.
package enum SealedStateVersion {
    package static let current = "0.1.0"
}
