public import KeyVault
internal import SharedFiles

/// What a rotation did.
public struct RotationReport: Sendable {
    /// The epoch that blobs of *after first unlock* are to have.
    public let epoch: UInt32
    /// The epoch that blobs of *when unlocked* are to have; nil where that class has no key or is locked.
    public let whenUnlockedEpoch: UInt32?
    /// Whether no blob of an older epoch is left: those are refused from now on. Otherwise `left` has what is in the way,
    /// or blobs of an older epoch kept coming; calling again goes on.
    public let isCompleted: Bool
    /// Whether the class *when unlocked* is in the way because the vault is locked: unlock it, and rotate again. The other
    /// class does not wait for it.
    public let needsUnlocking: Bool
    /// How often the container was walked.
    public let passes: Int
    /// How many blobs were resealed by this call.
    public let resealed: Int
    /// Their contents in bytes.
    public let bytes: Int64
    /// Blobs that stayed as they are, by path.
    public let left: [LeftBlob]
    /// Programs that still would seal under an older epoch, as far as they can be seen. What they write as records is
    /// sealed under the new key, since a writer looks at the vault first; a stream that one of them began to seal before is
    /// not.
    public let holders: [EpochHolder]
}

/// A sealed file that a rotation leaves as it is, or that a look at the container could not make out.
public struct LeftBlob: Sendable, Hashable {
    /// Where it lies, below the container.
    public let path: String
    /// What a reader would say of it.
    public let code: StoreError.Code
    /// Why, as a sentence.
    public let reason: String
    /// Its epoch, where its header is verified.
    public let epoch: UInt32?

    /// Whether the rotation waits for it: it could not be looked at or resealed, and may be one that somebody's key opens.
    ///
    /// A blob that no reader would take, whatever key is kept, holds up nothing: its header or its contents are not
    /// authentic, or it is no more than a copy of what is not current. Nor does what another user has closed, where no record
    /// can lie, nor what `RotationOptions.passingOver` names.
    public let isBlocking: Bool
    /// Whether its key cannot be told, or is one of those that the vault holds: it speaks against destroying any.
    let mayNeedKey: Bool

    private static let undecided: Set<StoreError.Code> = [.file, .permissionDenied, .locked, .lockTimeout]

    init(_ path: String, _ error: StoreError, epoch: UInt32? = nil, isPassedOver: Bool = false) {
        // Where the file system failed nothing is known about the blob.
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

    /// The same, reported only.
    var passedOver: LeftBlob { LeftBlob(path, code, reason, epoch: epoch, mayNeedKey: mayNeedKey) }
}

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
