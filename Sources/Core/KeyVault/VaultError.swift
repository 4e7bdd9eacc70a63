internal import CryptoPrimitives
public import SharedFiles

/// Why a vault was not opened, made or changed.
///
/// Locked, absent, corrupt and wrong are four different codes, and no path turns one into another. It never holds key
/// material or a passphrase.
public struct VaultError: StructuredError, Sendable, Equatable {
    /// The kind of failure, for programs: compare this, not the wording.
    public let code: Code
    /// What failed, on what, why, and what to do. The subject is the path of the vault or key file, or the access group.
    public let details: ErrorDetails
    /// The failure of a file, if that is the cause.
    public let underlying: FileError?

    package init(
        _ code: Code, _ operation: String, _ subject: String, _ reason: String, advice: String? = nil,
        underlying: FileError? = nil
    ) {
        self.code = code
        details = ErrorDetails(
            operation, subject, reason, advice: advice ?? code.defaultAdvice, errno: underlying?.errno, role: .vault)
        self.underlying = underlying
    }

    /// - Parameter role: `.input` or `.output` for a file that the caller named, such as a key file.
    init(_ error: FileError, _ operation: String, role: SubjectRole = .vault) {
        code =
            switch error.code {
            case .unsafeMode, .wrongOwner, .unsafePath, .notRegularFile, .notShared: .unsafeFile
            case .lockTimeout, .lockFileReplaced, .overtaken: .lockTimeout
            case .permissionDenied: .denied
            case .durabilityUnknown: .durabilityUnknown
            default: .file
            }
        details = ErrorDetails(
            operation, error.path, error.reason, advice: error.advice, errno: error.errno, role: role)
        underlying = error
    }

    /// Runs a step on files and turns its failure into a vault's.
    static func onFiles<Result: ~Copyable>(
        _ operation: String, role: SubjectRole = .vault, _ body: () throws(FileError) -> Result
    ) throws(VaultError) -> Result {
        do throws(FileError) { return try body() } catch { throw VaultError(error, operation, role: role) }
    }

    /// Runs a step towards something that is not there yet. Where the step itself may not outlive a power loss, that is
    /// its failure: `.durabilityUnknown` would say that the whole is in place.
    static func onTheWay<Result: ~Copyable>(
        _ body: () throws(VaultError) -> Result
    ) throws(VaultError) -> Result {
        do throws(VaultError) { return try body() } catch {
            guard error.code == .durabilityUnknown else { throw error }
            throw VaultError(
                .file, error.operation, error.subject, error.reason, advice: error.advice, underlying: error.underlying)
        }
    }

    /// One line: what failed, on what, why, and what to do.
    public var description: String {
        underlying?.description ?? "\(details.message) [\(code.rawValue)]. \(advice.printable)"
    }
}

extension VaultError: SecretMemoryError {
    package static func noSecretMemory(count: Int) -> VaultError {
        VaultError(
            .outOfMemory, "hold", "secrets", "The system has no memory for \(count) bytes that are locked and guarded.",
            advice: "Free memory, or open fewer vaults in one process.")
    }

    /// What a failed primitive means: `refusal`, unless it got no memory, which says nothing of the data.
    init(_ error: CryptoError, meaning refusal: VaultError) {
        self =
            error.code == .outOfMemory
            ? VaultError(
                .outOfMemory, refusal.operation, refusal.subject, "Memory for its secrets cannot be had.",
                advice: "Free memory, or open fewer vaults in one process.")
            : refusal
    }
}

extension VaultError {
    /// The kinds of failure; an open set.
    public struct Code: RawRepresentable, Hashable, Sendable {
        /// The code's stable name.
        public let rawValue: String
        /// A code by its stable name.
        public init(rawValue: String) { self.rawValue = rawValue }

        /// There is no vault for this access group.
        public static let absent = Code(rawValue: "absent")
        /// There is a vault, and nothing at hand opens it.
        public static let locked = Code(rawValue: "locked")
        /// The vault's file is damaged or was tampered with; it is left as it is.
        public static let corrupt = Code(rawValue: "corrupt")
        /// The passphrase opens no slot.
        public static let wrongPassphrase = Code(rawValue: "wrongPassphrase")
        /// The key file is intact and opens no slot.
        public static let wrongKeyFile = Code(rawValue: "wrongKeyFile")
        /// The key file is not one, or is damaged.
        public static let malformedKeyFile = Code(rawValue: "malformedKeyFile")
        /// A vault of a version, slot kind or section that this program does not know.
        public static let unsupported = Code(rawValue: "unsupported")
        /// The vault belongs to another access group.
        public static let wrongGroup = Code(rawValue: "wrongGroup")
        /// Others may read or write what only the owner should, or it is no regular file.
        public static let unsafeFile = Code(rawValue: "unsafeFile")
        /// No key was made: blobs of this group exist whose key would be lost for good.
        public static let orphanedBlobs = Code(rawValue: "orphanedBlobs")
        /// No key was made: the group's container is away, and what is sealed in it cannot be asked.
        public static let containerAway = Code(rawValue: "containerAway")
        /// There is a vault already.
        public static let alreadyExists = Code(rawValue: "alreadyExists")
        /// The keyring holds no active key.
        public static let noActiveKey = Code(rawValue: "noActiveKey")
        /// Somebody else held the vault's lock for the whole time limit.
        public static let lockTimeout = Code(rawValue: "lockTimeout")
        /// A passphrase that is empty or too long, or costs out of range.
        public static let invalidArgument = Code(rawValue: "invalidArgument")
        /// Memory for the password hash or for secrets could not be had.
        public static let outOfMemory = Code(rawValue: "outOfMemory")
        /// This user may not read the vault.
        public static let denied = Code(rawValue: "denied")
        /// The identity opens no slot.
        public static let wrongIdentity = Code(rawValue: "wrongIdentity")
        /// The identity or recipient is not one, or is damaged.
        public static let malformedIdentity = Code(rawValue: "malformedIdentity")
        /// There is no system credential of that name.
        public static let noCredential = Code(rawValue: "noCredential")
        /// There is an item of that service and account already.
        public static let duplicateItem = Code(rawValue: "duplicateItem")
        /// There is no item of that service and account.
        public static let itemNotFound = Code(rawValue: "itemNotFound")
        /// The value belongs to another machine.
        public static let wrongDevice = Code(rawValue: "wrongDevice")
        /// More than a vault holds.
        public static let tooLarge = Code(rawValue: "tooLarge")
        /// There is no key slot of that number, or no longer.
        public static let slotNotFound = Code(rawValue: "slotNotFound")
        /// The change is in place, but whether it outlives a power loss is not known.
        public static let durabilityUnknown = Code(rawValue: "durabilityUnknown")
        /// The last key slot, or the last one that reaches what is kept, stays.
        public static let lastSlot = Code(rawValue: "lastSlot")
        /// An older copy of the vault was put in its place.
        public static let rolledBack = Code(rawValue: "rolledBack")
        /// Another vault was put in its place while it was open.
        public static let replaced = Code(rawValue: "replaced")
        /// The keyring has no key of that id.
        public static let keyNotFound = Code(rawValue: "keyNotFound")
        /// The key is still needed.
        public static let keyInUse = Code(rawValue: "keyInUse")
        /// The change was not made because the access log cannot be written.
        public static let logFailed = Code(rawValue: "logFailed")
        /// The file is a vault in use, no backup.
        public static let notAnExport = Code(rawValue: "notAnExport")
        /// The file is a backup, no vault in use.
        public static let isAnExport = Code(rawValue: "isAnExport")
        /// There is no place where unlocked keys may stay.
        public static let noUnlockCache = Code(rawValue: "noUnlockCache")
        /// The file system refused; see `underlying`.
        public static let file = Code(rawValue: "file")
    }
}
