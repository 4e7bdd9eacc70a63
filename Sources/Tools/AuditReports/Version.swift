/// The version of the whole project; `CHANGELOG.md` lists its changes.
package enum SealedStateVersion {
    package static let current = "0.1.0"
}
