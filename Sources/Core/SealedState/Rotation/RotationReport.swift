public import KeyVault
internal import SharedFiles

/// The result of a rotation.
public struct RotationReport: Sendable {
    /// The target epoch of blobs of *after first unlock*.
    public let epoch: UInt32
    /// The target epoch of blobs of *when unlocked*; nil if that class has no key or is locked.
    public let whenUnlockedEpoch: UInt32?
    /// No blob of an older epoch is left: such blobs are refused from now on. Otherwise `left` lists the obstacles, or
    /// blobs of an older epoch kept appearing; calling again continues.
    public let isCompleted: Bool
    /// The class *when unlocked* is an obstacle because the vault is locked: unlock it, and rotate again. The other
    /// class does not wait for it.
    public let needsUnlocking: Bool
    /// The number of walks through the container.
    public let passes: Int
    /// The number of blobs that this call resealed.
    public let resealed: Int
    /// Their contents in bytes.
    public let bytes: Int64
    /// Blobs that stayed unchanged, by path.
    public let left: [SkippedBlob]
    /// Programs that would still seal under an older epoch, as far as they can be seen. Their record writes are sealed
    /// under the new key, since a writer reads the vault first; a stream that one of them began to seal before is not.
    public let holders: [EpochHolder]
}

/// A sealed file that a rotation leaves unchanged, or that a survey of the container could not identify.
public struct SkippedBlob: Sendable, Hashable {
    /// The file's path below the container.
    public let path: String
    /// The code with which a reader would refuse it.
    public let code: StoreError.Code
    /// The reason, as a sentence.
    public let reason: String
    /// Its epoch, if its header is verified.
    public let epoch: UInt32?

    /// The rotation waits for it: it could not be read or resealed, and a key may still open it.
    ///
    /// A blob that no reader would accept under any key is no obstacle: its header or its contents are not authentic,
    /// or it is a copy of an outdated blob. Neither is a file that another user has closed in a place that no record
    /// can have, nor one that `RotationOptions.passingOver` names.
    public let isBlocking: Bool
    /// Its key is unknown, or is one of the vault's: no key may be destroyed because of it.
    let mayNeedKey: Bool

    private static let undecided: Set<StoreError.Code> = [.file, .permissionDenied, .locked, .lockTimeout]

    init(_ path: String, _ error: StoreError, epoch: UInt32? = nil, isPassedOver: Bool = false) {
        // If the file system failed, nothing is known about the blob.
        let hasFailed = (error.cause as? FileError).map { $0.code != .notFound } ?? false
        let mayNeedKey = hasFailed || Self.undecided.contains(error.code)
        self.init(
            path, error.code, error.reason, epoch: epoch, isBlocking: mayNeedKey && !isPassedOver,
            mayNeedKey: mayNeedKey)
    }

    init(
        _ path: String, _ code: StoreError.Code, _ reason: String, epoch: UInt32? = nil, isBlocking: Bool = false,
        mayNeedKey: Bool = false
    ) {
        self.path = path
        self.code = code
        self.reason = reason
        self.epoch = epoch
        self.isBlocking = isBlocking
        self.mayNeedKey = mayNeedKey
    }

    /// The same blob, as reported only.
    var passedOver: SkippedBlob { SkippedBlob(path, code, reason, epoch: epoch, mayNeedKey: mayNeedKey) }
}

/// The progress of a rotation.
public struct RotationProgress: Sendable, Hashable {
    /// The number of this walk through the container, from 1.
    public internal(set) var pass = 0
    /// The number of the group's sealed blobs that this walk found.
    public internal(set) var found = 0
    /// The number of those to be resealed.
    public internal(set) var total = 0
    /// The number of those that are done, with any result.
    public internal(set) var done = 0
    /// The number of blobs resealed since the call began.
    public internal(set) var resealed = 0
    /// Their contents in bytes.
    public internal(set) var bytes: Int64 = 0
    /// The blob that was done last, below the container; nil before the first one.
    public internal(set) var path: String?
}
