/// A header as it was read: nobody has vouched for it. It may be shown, never believed.
package struct UnverifiedHeader: Hashable, Sendable {
    /// What the bytes say.
    package let claimed: BlobHeader

    /// Reads the shape only.
    package init(parsing bytes: [UInt8]) throws(SealingError) { claimed = try BlobHeader(parsing: bytes) }
}

/// A header whose commitment fits the vault's key: every field is what the writer wrote. Only an opener makes one.
package struct VerifiedHeader: Hashable, Sendable {
    /// What the writer wrote.
    package let header: BlobHeader

    init(verified header: BlobHeader) { self.header = header }
}
