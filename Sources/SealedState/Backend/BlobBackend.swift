package import SharedFiles

/// A record's place in a backend.
package struct BlobAddress: Hashable, Sendable {
    /// The record's checked name.
    package let name: RecordName
    /// Where its lock lies among the container's byte ranges.
    package let lock: LockRange
}

/// Where blobs lie. A backend sees sealed bytes only; it cannot open what it stores.
package protocol BlobBackend: Sendable {
    /// The blob, or `FileError` `.notFound`; `.tooLarge` before anything is allocated for it.
    func read(_ address: BlobAddress, limit: Int) throws(FileError) -> [UInt8]
    /// Up to `count` bytes from the blob's start; nil when there is none.
    func readPrefix(_ address: BlobAddress, count: Int) throws(FileError) -> [UInt8]?
    /// Puts a blob in place of what is there, whole or not at all. Called with the address's lock held.
    func replace(_ address: BlobAddress, with blob: [UInt8], durability: Durability) throws(FileError)
    /// Keeps what is there under a second name, where no reader takes it for a record; returns that name. The original
    /// stays until it is replaced.
    func quarantine(_ address: BlobAddress) throws(FileError) -> String
    /// The names of all records, in byte order; `FileError` `.notFound` when the container is gone.
    func names() throws(FileError) -> [String]
    /// Whether the container was removed since it was opened: then nothing in it is absent, it is not there itself.
    var isRemoved: Bool { get }
    /// Waits for the address's lock.
    func lock(_ address: BlobAddress, timeout: Duration, isCancelled: (() -> Bool)?) throws(FileError) -> HeldLock
}
