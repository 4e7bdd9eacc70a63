package import SharedFiles

/// A record's place in a backend.
package struct BlobAddress: Hashable, Sendable {
    /// The record's checked name.
    package let name: RecordName
    /// Where its file is stored below the container; for backends of files.
    package let path: String
    /// Where its lock lies among the container's byte ranges.
    package let lock: LockRange
}

/// Where blobs lie. A backend sees sealed bytes only; it cannot open what it stores.
package protocol BlobBackend: Sendable {
    /// The blob, or `FileError` `.notFound`; `.tooLarge` before anything is allocated for it.
    func read(_ address: BlobAddress, limit: Int) throws(FileError) -> [UInt8]
    /// Up to `count` bytes from the blob's start; nil when there is none.
    func readPrefix(_ address: BlobAddress, count: Int) throws(FileError) -> [UInt8]?
    /// Keeps hold of what lies there, to be asked whether it still does; `FileError` `.notFound` where there is nothing.
    func hold(_ address: BlobAddress) throws(FileError) -> any HeldBlob
    /// Puts a blob in place of what is there, whole or not at all. Called with the address's lock held.
    ///
    /// - Parameter isDeletion: The blob is a tombstone, or a suite of settings without some that it had. No quota keeps it
    ///   out, and where the disk is full it takes the space that is reserved for deletions.
    func replace(
        _ address: BlobAddress, with blob: [UInt8], durability: Durability, isDeletion: Bool
    ) throws(FileError)
    /// Reserves space for the next deletion, after a write that succeeded. Needs no lock and never fails: without a reserve a
    /// deletion needs free space.
    func keepReserve()
    /// Takes away what is there, durably. Called with the address's lock held.
    func remove(_ address: BlobAddress) throws(FileError)
    /// Makes the blob that is there durable, whoever wrote it.
    func makeDurable(_ address: BlobAddress) throws(FileError)
    /// Keeps what is there under a second name, where no reader takes it for a record, and a note of the reason beside
    /// it. The original is never moved and stays until it is replaced; the same file is kept once. Needs no lock: without
    /// it, what is kept is what lies there at that moment.
    ///
    /// Where the file gets no second name its bytes are copied.
    /// - Parameters:
    ///   - reason: What the note says, one or a few lines, without contents.
    ///   - copyLimit: No larger file is copied: then `FileError` `.tooLarge`.
    /// - Returns: That name; nil where the record has as many kept blobs as it may, so that nobody can fill the disk with
    ///   them: then this one is not kept.
    func quarantine(_ address: BlobAddress, reason: String, copyLimit: Int) throws(FileError) -> String?
    /// The names of all records, in byte order; `FileError` `.notFound` when the container is gone.
    func names() throws(FileError) -> [String]
    /// Whether the container was removed since it was opened: then nothing in it is absent, it is not there itself.
    var isRemoved: Bool { get }
    /// Waits for the address's lock.
    func lock(_ address: BlobAddress, timeout: Duration, isCancelled: (() -> Bool)?) throws(FileError) -> HeldLock
    /// Takes the byte that shows a lease's holder to be alive, tried once; `FileError` `.lockTimeout` while somebody has it.
    func presence(_ range: LockRange) throws(FileError) -> HeldLock
}

/// What lay in a record's place at one moment, kept so that it can be told from whatever comes later.
package protocol HeldBlob: Sendable {
    /// Whether it lies there still, unchanged. Asked before each use of something that was read from it.
    var isInPlace: Bool { get }
}
