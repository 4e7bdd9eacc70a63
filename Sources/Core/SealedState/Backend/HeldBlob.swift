/// What lay in a record's place at one moment, kept so that it can be told from whatever comes later.
package protocol HeldBlob: Sendable {
    /// Whether it lies there still, unchanged. Asked before each use of something that was read from it.
    var isInPlace: Bool { get }
}
