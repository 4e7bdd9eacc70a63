/// The schema versions that a blob's header can hold.
package enum SchemaVersion {
    /// The number as a header holds it; nil for one out of range.
    package static func number(_ version: Int) -> UInt32? {
        UInt32(exactly: version).flatMap { $0 > 0 ? $0 : nil }
    }

    /// What to do about one out of range.
    package static let advice = "Correct schemaVersion: 1 to \(UInt32.max)."
}
