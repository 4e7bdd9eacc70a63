package import SharedFiles

/// A record's place in a backend.
package struct BlobAddress: Hashable, Sendable {
    /// The record's checked name.
    package let name: RecordName
    /// The file's path below the container; for backends of files.
    package let path: String
    /// The lock's byte range in the container's lock file.
    package let lock: LockRange
}

/// A store of sealed blobs. A backend sees sealed bytes only; it cannot open them.
package protocol BlobBackend: Sendable {
    /// Returns the blob, or throws `FileError` `.notFound`; `.tooLarge` before anything is allocated for it.
    func read(_ address: BlobAddress, limit: Int) throws(FileError) -> [UInt8]
    /// Returns up to `count` bytes from the blob's start; nil if there is no blob.
    func readPrefix(_ address: BlobAddress, count: Int) throws(FileError) -> [UInt8]?
    /// Holds the stored blob, to check later that it is still in place; throws `FileError` `.notFound` if there is no
    /// blob.
    func hold(_ address: BlobAddress) throws(FileError) -> any HeldBlob
    /// Replaces the stored blob, whole or not at all. Called with the address's lock held.
    ///
    /// - Parameter isDeletion: The blob is a tombstone, or a suite of settings with fewer settings. No quota refuses
    ///   it, and if the disk is full it uses the space that is reserved for deletions.
    func replace(
        _ address: BlobAddress, with blob: [UInt8], durability: Durability, isDeletion: Bool
    ) throws(FileError)
    /// Reserves space for the next deletion, after a write that succeeded. Needs no lock and never fails: without a
    /// reserve a deletion needs free space.
    func keepReserve()
    /// Removes the stored blob durably. Called with the address's lock held.
    func remove(_ address: BlobAddress) throws(FileError)
    /// Makes the stored blob durable, for any writer's blob.
    func makeDurable(_ address: BlobAddress) throws(FileError)
    /// Keeps the stored blob under a second name, where no reader takes it for a record, with a note of the reason
    /// beside it. The original is never moved and stays until it is replaced; the same file is kept once. Needs no
    /// lock: without it, the blob stored at that moment is kept.
    ///
    /// If the file gets no second name its bytes are copied.
    /// - Parameters:
    ///   - reason: The note's text, one or a few lines, without contents.
    ///   - copyLimit: The maximum size of a copy; a larger file throws `FileError` `.tooLarge`.
    /// - Returns: That name; nil if the record already has its maximum of kept blobs, which prevents filling the disk:
    ///   this one is then not kept.
    func quarantine(_ address: BlobAddress, reason: String, copyLimit: Int) throws(FileError) -> String?
    /// Returns the names of all records, in byte order; throws `FileError` `.notFound` if the container is missing.
    func names() throws(FileError) -> [String]
    /// The container was removed since it was opened: then its records are not absent, the container is missing.
    var isRemoved: Bool { get }
    /// Waits for the address's lock.
    func lock(_ address: BlobAddress, timeout: Duration, isCancelled: (() -> Bool)?) throws(FileError) -> HeldLock
    /// Takes the byte that shows that a lease's holder is alive, tried once; throws `FileError` `.lockTimeout` while it
    /// is held.
    func presence(_ range: LockRange) throws(FileError) -> HeldLock
}

/// A blob that was in a record's place at one moment, held to distinguish it from later ones.
package protocol HeldBlob: Sendable {
    /// The blob is still in place, unchanged. Checked before each use of data that was read from it.
    var isInPlace: Bool { get }
}
