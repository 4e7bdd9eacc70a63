/// Where things lie below a container's root; the one place that names them.
package enum ContainerLayout {
    /// Sealed records, one file each, in directories by the segments of their names.
    package static let records = "Library/Application Support/Records"
    /// Ends the file name of every sealed record.
    package static let recordSuffix = ".sealed"
    /// Copies of blobs that were refused, kept for whoever wants to know why.
    package static let quarantine = "Quarantine"
    /// The one lock file of the container.
    package static let lockFile = ".sealedstate.lock"
}
