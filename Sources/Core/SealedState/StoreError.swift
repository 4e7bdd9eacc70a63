internal import AppGroups
package import KeyVault
package import SealedBackends
package import Sealing
public import SharedFiles

/// The reason why the store refused a record or a call failed.
///
/// It names the record, the finding and the advice; it never holds contents or key material.
public struct StoreError: StructuredError, Sendable {
    /// The kind of failure, for programs: compare this, not the wording.
    public let code: Code

    /// The failed operation, its subject, the reason and the advice. The subject is the record's name, the group or a
    /// path.
    ///
    /// The usual advice is looked up on demand: many of these errors are caught immediately.
    public var details: ErrorDetails {
        ErrorDetails(
            stated.operation, stated.subject, stated.reason, advice: ownAdvice ?? code.defaultAdvice,
            errno: stated.errno)
    }

    /// The details without the advice.
    private let stated: ErrorDetails
    private let ownAdvice: String?

    /// The error of a lower module behind this one.
    public let cause: (any Error)?

    package init(
        _ code: Code, _ operation: String, _ subject: String, _ reason: String, advice: String? = nil,
        errno: Int32? = nil, cause: (any Error)? = nil
    ) {
        self.code = code
        stated = ErrorDetails(operation, subject, reason, advice: "", errno: errno)
        ownAdvice = advice
        self.cause = cause
    }
}

extension StoreError {
    /// The kinds of failure; an open set, so a `switch` over it needs a default.
    public struct Code: RawRepresentable, Hashable, Sendable, CustomStringConvertible {
        /// The code's stable name, as printed in machine-readable output.
        public let rawValue: String
        /// Creates a code from its stable name.
        public init(rawValue: String) { self.rawValue = rawValue }
        /// The code's name.
        public var description: String { rawValue }
        /// Returns `true` for an error with this code. It makes the code a pattern: `catch StoreError.Code.stale`.
        public static func ~= (code: Self, error: any Error) -> Bool { (error as? StoreError)?.code == code }

        // No value.

        /// No record of that name was written, or it was deleted.
        public static let absent = Code(rawValue: "absent")
        /// The vault exists, and no available credential opens it.
        public static let locked = Code(rawValue: "locked")

        // Refused on read, in the order of the checks.

        /// Larger than the store's limit.
        public static let tooLarge = Code(rawValue: "tooLarge")
        /// Not a sealed blob, or damaged beyond recognition.
        public static let malformed = Code(rawValue: "malformed")
        /// A sealed blob of a format that this version does not know.
        public static let unsupportedFormat = Code(rawValue: "unsupportedFormat")
        /// A sealed blob of another kind: a stream where a record should be.
        public static let wrongKind = Code(rawValue: "wrongKind")
        /// Sealed for another app group.
        public static let wrongGroup = Code(rawValue: "wrongGroup")
        /// Sealed under another record's name.
        public static let wrongName = Code(rawValue: "wrongName")
        /// Sealed under a key that the vault does not hold.
        public static let unknownKey = Code(rawValue: "unknownKey")
        /// The blob's suite is not the vault's suite for that key.
        public static let wrongSuite = Code(rawValue: "wrongSuite")
        /// The blob's epoch is not the vault's epoch for that key.
        public static let wrongEpoch = Code(rawValue: "wrongEpoch")
        /// The header was changed, or written for another key.
        public static let wrongCommitment = Code(rawValue: "wrongCommitment")
        /// From an epoch that a completed rotation has ended.
        public static let retiredEpoch = Code(rawValue: "retiredEpoch")
        /// A blob of *after first unlock* under a name that is *when unlocked*.
        public static let downgraded = Code(rawValue: "downgraded")
        /// This user's programs have opened a vault there, and it, or one of its files, is missing.
        public static let vaultMissing = Code(rawValue: "vaultMissing")
        /// The vault is not the one that this user's programs know.
        public static let vaultReplaced = Code(rawValue: "vaultReplaced")
        /// The vault is not trusted yet: a person has to accept it.
        public static let vaultNotAccepted = Code(rawValue: "vaultNotAccepted")
        /// The contents were changed, cut or added to.
        public static let tampered = Code(rawValue: "tampered")
        /// Authentic, and not signed by a writer that may write it.
        public static let notAuthorized = Code(rawValue: "notAuthorized")
        /// Signed under a newer roster than the one that this program has.
        public static let rosterBehind = Code(rawValue: "rosterBehind")
        /// The file of a governed record is missing without a signed deletion, and a state of it was accepted; or the
        /// contents of a sealed file are missing.
        public static let missing = Code(rawValue: "missing")
        /// Authentic, and older than the accepted state.
        public static let replayed = Code(rawValue: "replayed")
        /// Authentic, with the sequence of an accepted blob and other contents.
        public static let forked = Code(rawValue: "forked")
        /// The sequence is further ahead than any program writes.
        public static let sequenceJump = Code(rawValue: "sequenceJump")
        /// Written by a schema version older than the type still reads.
        public static let tooOld = Code(rawValue: "tooOld")
        /// Written by a schema version newer than the type knows.
        public static let tooNew = Code(rawValue: "tooNew")
        /// Nested or sized beyond what a decoder is given.
        public static let unsafeStructure = Code(rawValue: "unsafeStructure")
        /// The payload does not decode as the type.
        public static let undecodable = Code(rawValue: "undecodable")
        /// A step from an older schema version to the present one failed.
        public static let migrationFailed = Code(rawValue: "migrationFailed")
        /// Expired, or older than the type's maximum age.
        public static let stale = Code(rawValue: "stale")
        /// Sealed in the future.
        public static let notYetValid = Code(rawValue: "notYetValid")
        /// The record's own rules refuse it.
        public static let invalid = Code(rawValue: "invalid")

        // Writing.

        /// The value does not encode.
        public static let unencodable = Code(rawValue: "unencodable")
        /// No valid record name.
        public static let invalidName = Code(rawValue: "invalidName")
        /// Another program held the record's lock for the whole time limit.
        public static let lockTimeout = Code(rawValue: "lockTimeout")
        /// The calling task was cancelled while it waited.
        public static let cancelled = Code(rawValue: "cancelled")
        /// The new value is in place; whether it survives a power loss is unknown.
        public static let durabilityUnknown = Code(rawValue: "durabilityUnknown")
        /// The file system is full; the old value remains.
        public static let noSpace = Code(rawValue: "noSpace")
        /// The user's or group's disk quota is used up; the old value remains.
        public static let quotaExceeded = Code(rawValue: "quotaExceeded")
        /// The file system is mounted read-only; the old value remains.
        public static let readOnly = Code(rawValue: "readOnly")
        /// The stored state does not meet the write's condition; nothing was written.
        public static let conflict = Code(rawValue: "conflict")
        /// The closure given to `update` threw; nothing was written. Its error is the `cause`.
        public static let declined = Code(rawValue: "declined")
        /// The new value is in place, but the container's lock file was replaced during the write: another program may
        /// have written at the same moment, and one of the two values is lost.
        public static let lockLost = Code(rawValue: "lockLost")
        /// Whether the value was written is unknown: the backend's answer was lost, and the record has changed since.
        public static let outcomeUnknown = Code(rawValue: "outcomeUnknown")
        /// Another program holds the lease by now; nothing was written.
        public static let leaseLost = Code(rawValue: "leaseLost")
        /// Other programs held the lease for the whole time limit.
        public static let leaseTimeout = Code(rawValue: "leaseTimeout")
        /// The text is no cursor of this record's updates.
        public static let invalidCursor = Code(rawValue: "invalidCursor")
        /// The range is not one of the file's contents.
        public static let invalidRange = Code(rawValue: "invalidRange")
        /// The system gives no more watches for changes.
        public static let watchLimit = Code(rawValue: "watchLimit")
        /// The system's permissions refuse it.
        public static let permissionDenied = Code(rawValue: "permissionDenied")

        // The group's set-up.

        /// The program's entitlements do not hold the group.
        public static let notEntitled = Code(rawValue: "notEntitled")
        /// The program's entitlements cannot be read, trusted or understood.
        public static let entitlements = Code(rawValue: "entitlements")
        /// The container or its place cannot be used as it is.
        public static let container = Code(rawValue: "container")
        /// The group has no container yet, and the call does not create one.
        public static let containerMissing = Code(rawValue: "containerMissing")
        /// The container's records are in another backend than the program's.
        public static let backendUnknown = Code(rawValue: "backendUnknown")
        /// The group has no vault yet, and the call does not create one.
        public static let vaultAbsent = Code(rawValue: "vaultAbsent")
        /// The vault is damaged.
        public static let vaultCorrupt = Code(rawValue: "vaultCorrupt")
        /// An older copy of the vault was put in its place.
        public static let vaultRolledBack = Code(rawValue: "vaultRolledBack")
        /// The passphrase opens no slot of the vault.
        public static let wrongPassphrase = Code(rawValue: "wrongPassphrase")
        /// The key file opens no slot of the vault.
        public static let wrongKeyFile = Code(rawValue: "wrongKeyFile")
        /// Blobs exist whose key the vault does not have; no new key was created.
        public static let orphanedBlobs = Code(rawValue: "orphanedBlobs")
        /// The key is active, is still needed, or its use cannot be determined.
        public static let keyInUse = Code(rawValue: "keyInUse")
        /// The vault has no key of that id.
        public static let keyNotFound = Code(rawValue: "keyNotFound")
        /// The group's team key, or the remembered state of its roster, cannot be used.
        public static let roster = Code(rawValue: "roster")
        /// The vault cannot be used for another reason; see `cause`.
        public static let vault = Code(rawValue: "vault")
        /// The file system refused; see `cause`.
        public static let file = Code(rawValue: "file")
    }
}

/// The conversion of lower modules' errors into a store's.
extension StoreError {
    package init(_ error: FileError, _ operation: String, _ subject: String) {
        let code: Code =
            switch error.code {
            // An absent record is reported before this conversion, so here a directory of records is missing.
            case .notFound: .containerMissing
            case .tooLarge: .tooLarge
            case .unsafePath, .notRegularFile: .malformed
            case .secondName: .container
            case .lockTimeout, .lockFileReplaced, .overtaken: .lockTimeout
            case .cancelled: .cancelled
            case .durabilityUnknown: .durabilityUnknown
            default: Self.code(ofRefusal: error) ?? .file
            }
        // A record beyond the limit, unlike a file beyond one of the system's (EFBIG), needs another limit of the group.
        let isBeyondLimit = code == .tooLarge && error.errno == nil
        self.init(
            code, operation, subject, error.sentence, advice: isBeyondLimit ? nil : error.advice, errno: error.errno,
            cause: error)
    }

    /// Converts the error of a backend. Behind that of files is the error of the file, which says more.
    package init(_ error: BackendError, _ operation: String, _ subject: String) {
        if let file = error.cause as? FileError {
            self.init(file, operation, subject)
            return
        }
        self.init(
            Self.code(of: error.code), operation, subject, error.sentence,
            advice: error.code == .tooLarge ? nil : error.advice, errno: error.errno, cause: error)
    }

    private static func code(of code: BackendError.Code) -> Code {
        switch code {
        case .conflict, .indeterminate: .conflict
        case .durabilityUnknown: .durabilityUnknown
        case .timeout: .lockTimeout
        case .full: .noSpace
        case .quotaExceeded: .quotaExceeded
        case .readOnly: .readOnly
        case .denied: .permissionDenied
        case .notABlob: .malformed
        case .gone: .containerMissing
        case .tooLarge: .tooLarge
        case .unsupported: .container
        default: .file
        }
    }

    /// Converts the error of a backend's write, as that of a file's.
    init(writing error: BackendError, _ subject: String) {
        if let file = error.cause as? FileError {
            self.init(writing: file, subject)
        } else {
            self.init(error, "write", subject)
        }
    }

    /// Converts the error of a write. A write replaces anything in a record's place, so a link, a pipe or a directory
    /// in the way is no malformed record: the container, its lock file or a directory of the path is wrong.
    package init(writing error: FileError, _ subject: String) {
        switch error.code {
        case .unsafePath, .notRegularFile, .notDirectory, .wrongOwner:
            self.init(
                .container, "write", subject, error.sentence, advice: error.advice, errno: error.errno, cause: error)
        default: self.init(error, "write", subject)
        }
    }

    /// Returns the code of an expected refusal by the system.
    private static func code(ofRefusal error: FileError) -> Code? {
        switch error.code {
        case .noSpace: .noSpace
        case .quotaExceeded: .quotaExceeded
        case .readOnly: .readOnly
        case .permissionDenied: .permissionDenied
        default: nil
        }
    }

    package init(_ error: SealingError, _ operation: String, _ subject: String) {
        self.init(Code(error.code), operation, subject, error.detail, cause: error)
    }

    package init(_ error: VaultError, _ operation: String) {
        let code: Code =
            switch error.code {
            case .absent: .vaultAbsent
            case .locked: .locked
            case .corrupt: .vaultCorrupt
            case .durabilityUnknown: .durabilityUnknown
            case .file: error.underlying.flatMap(Self.code(ofRefusal:)) ?? .file
            case .logFailed: error.underlying.flatMap(Self.code(ofRefusal:)) ?? .vault
            case .denied: error.underlying.flatMap(Self.code(ofRefusal:)) ?? .vault
            case .rolledBack: .vaultRolledBack
            case .missing: .vaultMissing
            case .replaced, .forked: .vaultReplaced
            case .notAccepted: .vaultNotAccepted
            case .downgraded: .downgraded
            case .wrongPassphrase: .wrongPassphrase
            case .wrongKeyFile: .wrongKeyFile
            case .orphanedBlobs: .orphanedBlobs
            case .containerAway: .containerMissing
            case .lockTimeout: .lockTimeout
            case .notEntitled: .notEntitled
            case .entitlements: .entitlements
            default: .vault
            }
        self.init(
            code, operation, error.subject, error.reason, advice: error.advice, errno: error.errno, cause: error)
    }

    /// Converts an error about the team key or the remembered roster.
    init(roster error: VaultError, _ operation: String) {
        self.init(
            .roster, operation, error.subject, error.reason, advice: error.advice, errno: error.errno, cause: error)
    }

    init(_ error: AppGroupError, _ operation: String) {
        let code: Code =
            switch error.code {
            case .containerMissing, .containerAway: .containerMissing
            case .notEntitled: .notEntitled
            case .malformedEntitlements, .unresolvedVariable, .unusableEntitlements: .entitlements
            default: .container
            }
        self.init(
            code, operation, error.subject, error.reason, advice: error.advice, errno: error.errno, cause: error)
    }

    /// Runs a step on files and converts its failure into a store's.
    static func onFiles<Result: ~Copyable>(
        _ operation: String, _ subject: String, _ body: () throws(FileError) -> Result
    ) throws(StoreError) -> Result {
        do throws(FileError) { return try body() } catch { throw StoreError(error, operation, subject) }
    }
}

extension StoreError {
    /// Runs a step on the backend and converts its failure into a store's.
    package static func onBackend<Result>(
        _ operation: String, _ subject: String, _ body: () throws(BackendError) -> Result
    ) throws(StoreError) -> Result {
        do throws(BackendError) { return try body() } catch { throw StoreError(error, operation, subject) }
    }
}

extension StoreError.Code {
    /// Creates the code of the same name for a refusal of the format. Codes that no reader of a record meets become
    /// `malformed`.
    package init(_ refusal: SealingError.Code) {
        let code = Self(rawValue: refusal.rawValue)
        self = code.check == nil ? .malformed : code
    }
}
