/// How far a rotation has come.
public struct RotationProgress: Sendable, Hashable {
    /// Which walk of the container this is, from 1.
    public internal(set) var pass = 0
    /// How many sealed blobs of the group this walk found.
    public internal(set) var found = 0
    /// How many of them were to be resealed.
    public internal(set) var total = 0
    /// How many of those are done, whatever came of it.
    public internal(set) var done = 0
    /// How many blobs have been resealed since the call began.
    public internal(set) var resealed = 0
    /// Their contents in bytes.
    public internal(set) var bytes: Int64 = 0
    /// The blob that was done last, below the container; nil where none was yet.
    public internal(set) var path: String?
}
