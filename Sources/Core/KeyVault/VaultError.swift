internal import CryptoPrimitives
public import SharedFiles

/// The reason why a vault was not opened, created or changed.
///
/// Locked, absent, corrupt and wrong are four different codes, and no code path converts one into another. The error
/// never contains key material or a passphrase.
public struct VaultError: StructuredError, Sendable, Equatable {
    /// The kind of failure, for programs: compare this, not the wording.
    public let code: Code
    /// The failed operation, its subject, the reason and the advice. The subject is the path of the vault or key file,
    /// or the access group.
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
            case .unsafeMode, .wrongOwner, .unsafePath, .notRegularFile, .secondName, .notShared:
                .unsafeFile
            case .lockTimeout, .lockFileReplaced, .overtaken: .lockTimeout
            case .cancelled: .cancelled
            case .permissionDenied: .denied
            case .durabilityUnknown: .durabilityUnknown
            default: .file
            }
        details = ErrorDetails(
            operation, error.path, error.reason, advice: error.advice, errno: error.errno, role: role)
        underlying = error
    }

    /// Runs a step on files and converts its failure into a vault's.
    static func onFiles<Result: ~Copyable>(
        _ operation: String, role: SubjectRole = .vault, _ body: () throws(FileError) -> Result
    ) throws(VaultError) -> Result {
        do throws(FileError) { return try body() } catch { throw VaultError(error, operation, role: role) }
    }

    /// Runs a step towards a file that does not exist yet. It converts `.durabilityUnknown` of the step, which would
    /// claim that the whole is in place.
    static func beforeCompletion<Result: ~Copyable>(
        _ body: () throws(VaultError) -> Result
    ) throws(VaultError) -> Result {
        do throws(VaultError) { return try body() } catch {
            guard error.code == .durabilityUnknown else { throw error }
            throw VaultError(
                .file, error.operation, error.subject, error.reason, advice: error.advice, underlying: error.underlying)
        }
    }

    /// The error in one line: the failed operation, its subject, the reason and the advice.
    public var description: String { underlying?.description ?? line }
}

extension VaultError: SecretMemoryError {
    package static func noSecretMemory(count: Int) -> VaultError {
        VaultError(
            .outOfMemory, "hold", "secrets", "The system cannot provide \(count) bytes of locked and guarded memory.",
            advice: "Free memory, or open fewer vaults in one process.")
    }

    /// Creates the error of a failed primitive: `refusal`, unless the primitive got no memory, which is no fault of the
    /// data.
    init(_ error: CryptoError, meaning refusal: VaultError) {
        self =
            error.code == .outOfMemory
            ? VaultError(
                .outOfMemory, refusal.operation, refusal.subject, "Memory for its secrets is not available.",
                advice: "Free memory, or open fewer vaults in one process.")
            : refusal
    }
}

extension VaultError {
    /// The kinds of failure; an open set.
    public struct Code: RawRepresentable, Hashable, Sendable, CustomStringConvertible {
        /// The code's stable name.
        public let rawValue: String
        /// Creates a code from its stable name.
        public init(rawValue: String) { self.rawValue = rawValue }
        /// The code's name.
        public var description: String { rawValue }
        /// Returns `true` for an error with this code. It makes the code a pattern: `catch VaultError.Code.locked`.
        public static func ~= (code: Self, error: any Error) -> Bool { (error as? VaultError)?.code == code }

        /// The access group has no vault.
        public static let absent = Code(rawValue: "absent")
        /// The vault exists, and no available credential opens it.
        public static let locked = Code(rawValue: "locked")
        /// The vault's file is damaged or was tampered with; it is left unchanged.
        public static let corrupt = Code(rawValue: "corrupt")
        /// The passphrase opens no slot.
        public static let wrongPassphrase = Code(rawValue: "wrongPassphrase")
        /// The key file is intact and opens no slot.
        public static let wrongKeyFile = Code(rawValue: "wrongKeyFile")
        /// The key file has another format, or is damaged.
        public static let malformedKeyFile = Code(rawValue: "malformedKeyFile")
        /// A vault of a version, slot kind or section that this program does not know.
        public static let unsupported = Code(rawValue: "unsupported")
        /// The vault belongs to another access group.
        public static let wrongGroup = Code(rawValue: "wrongGroup")
        /// Others may read or write the file that only the owner should, or it is no regular file.
        public static let unsafeFile = Code(rawValue: "unsafeFile")
        /// No key was created, because blobs of this group exist whose key would be lost permanently.
        public static let orphanedBlobs = Code(rawValue: "orphanedBlobs")
        /// No key was created, because the group's container is missing and its blobs cannot be checked.
        public static let containerAway = Code(rawValue: "containerAway")
        /// The vault already exists.
        public static let alreadyExists = Code(rawValue: "alreadyExists")
        /// The keyring has no active key.
        public static let noActiveKey = Code(rawValue: "noActiveKey")
        /// Another program held the vault's lock for the whole time limit.
        public static let lockTimeout = Code(rawValue: "lockTimeout")
        /// The calling task was cancelled while it waited; nothing was changed.
        public static let cancelled = Code(rawValue: "cancelled")
        /// The passphrase is empty or too long, or the costs are out of range.
        public static let invalidArgument = Code(rawValue: "invalidArgument")
        /// Memory for the password hash or for secrets could not be allocated.
        public static let outOfMemory = Code(rawValue: "outOfMemory")
        /// This user may not read the vault.
        public static let denied = Code(rawValue: "denied")
        /// The identity opens no slot.
        public static let wrongIdentity = Code(rawValue: "wrongIdentity")
        /// The text is no identity or recipient, or is damaged.
        public static let malformedIdentity = Code(rawValue: "malformedIdentity")
        /// The system credential of that name does not exist.
        public static let noCredential = Code(rawValue: "noCredential")
        /// An item of that service and account already exists.
        public static let duplicateItem = Code(rawValue: "duplicateItem")
        /// No item has that service and account.
        public static let itemNotFound = Code(rawValue: "itemNotFound")
        /// The value belongs to another machine.
        public static let wrongDevice = Code(rawValue: "wrongDevice")
        /// The contents exceed a vault's limit.
        public static let tooLarge = Code(rawValue: "tooLarge")
        /// No key slot has that number, or no longer.
        public static let slotNotFound = Code(rawValue: "slotNotFound")
        /// The change is in place, but may not survive a power loss.
        public static let durabilityUnknown = Code(rawValue: "durabilityUnknown")
        /// The last key slot, or the last one with the necessary reach, cannot be removed.
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
        /// The file is a vault in use, not a backup.
        public static let notAnExport = Code(rawValue: "notAnExport")
        /// The file is a backup, not a vault in use.
        public static let isAnExport = Code(rawValue: "isAnExport")
        /// The system has no place for unlocked keys.
        public static let noUnlockCache = Code(rawValue: "noUnlockCache")
        /// The file system refused; see `underlying`.
        public static let file = Code(rawValue: "file")
    }
}

extension VaultError.Code {
    /// The advice for failures without a more specific one.
    var defaultAdvice: String { Self.advice[self] ?? "Correct the call or the file." }

    private static let advice: [VaultError.Code: String] = [
        .absent: "Create it with sealctl init, or start the producing program first.",
        // `vault unlock` helps only in a vault with persons: code that knows the slots suggests it.
        .locked: "Give a credential that opens it (sealctl vault slot list); no new key was created.",
        .denied: "Ask the vault's owner to share it with you, or run as its owner.",
        .corrupt: "Restore the file from a backup; it was not changed.",
        .wrongPassphrase: "Try again; the vault is unchanged.",
        .wrongKeyFile: "Restore the key file that belongs to this vault.",
        .malformedKeyFile: "Restore the key file from a backup; it was not changed.",
        .wrongIdentity: "Use the identity whose recipient has a slot: sealctl vault slot list.",
        .malformedIdentity: "Copy the whole text again; sealctl vault identity creates a new one.",
        .noCredential: "Name it in the unit with LoadCredential= or LoadCredentialEncrypted=.",
        .unsupported: "Update this program.",
        .wrongGroup: "Restore the vault of this access group; this one was copied from another.",
        .orphanedBlobs: "Restore the vault that holds their key, or start again with sealctl init --abandon, "
            + "which moves them to quarantine.",
        .containerAway: "Mount its disk, or restore it.",
        .alreadyExists: "Use the existing vault.",
        .lockTimeout: "Wait for the other program, or end it if it does not respond.",
        .cancelled: "Try again if it is still needed.",
        .duplicateItem: "Update the item, or choose another account.",
        .itemNotFound: "See the items: sealctl vault list.",
        .wrongDevice: "Add it on this machine; it was marked thisDeviceOnly on another machine.",
        .tooLarge: "Store less in it.",
        .wrongCredential: "Restore the credential that belongs to this vault.",
        .tooCostly: "Open it with another slot, or remove passphrase slots that are not needed.",
        .durabilityUnknown: "Check whether it exists, and create it again if in doubt.",
        .slotNotFound: "See the present slots: sealctl vault slot list.",
        .lastSlot: "Add another slot first.",
        .rolledBack: "Restore the newest copy; to continue with this one: sealctl vault accept.",
        .replaced: "Open it again.",
        .missing:
            "Restore it from a backup (sealctl vault import). If persons can still open vault.person, abandon the "
            + "missing file first: sealctl vault rekey --without-vault. To abandon the vault: sealctl init --abandon.",
        .forked:
            "Ask the person who shares it which vault is right; to continue with this one: sealctl vault accept.",
        .notAccepted: "Compare its fingerprint with a person who shares it, then run sealctl vault accept.",
        .downgraded: "Ask a person who can unlock the vault; nothing was read or written.",
        .teamKeyNeeded: "Give its file: --team-key FILE. A change that keeps the person key does not need it.",
        .noRoster: "Create it first: sealctl roster init --team-key FILE.",
        .unvouchedSlots: "Name the slots to keep, or remove them.",
        .keyNotFound: "See the keys: sealctl vault keys.",
        .keyInUse: "See which blobs and programs need it: sealctl vault rotate --status.",
        .notAnExport: "Give a file that sealctl vault export wrote.",
        .isAnExport: "Import it: sealctl vault import.",
        .noUnlockCache: "Log in so that there is a runtime directory, or give the passphrase at each use.",
    ]
}

extension VaultError.Code {
    /// A backup has another key for an epoch than the vault.
    public static let epochClash = VaultError.Code(rawValue: "epochClash")
    /// The files to move are on another file system than their new place.
    public static let otherFileSystem = VaultError.Code(rawValue: "otherFileSystem")
}

extension VaultError {
    /// Returns the same failure for a backup file, so that it is not attributed to the vault.
    func ofBackup(_ path: String) -> VaultError {
        guard underlying == nil else { return self }
        return VaultError(code, "open the backup", path, reason, advice: Self.backupAdvice[code] ?? advice)
    }

    private static let backupAdvice: [Code: String] = [
        .corrupt: "Use another copy of the backup; nothing was imported.",
        .locked: "Give the passphrase or identity that the backup was made for.",
        .wrongPassphrase: "Try again; nothing was imported.",
        .wrongIdentity: "Use the identity of a recipient that the backup was made for.",
        .wrongGroup: "Import it for the access group that it was made from.",
        .unsupported: "Update this program.",
    ]

    static func epochClash(_ path: String, epoch: UInt32) -> VaultError {
        VaultError(
            .epochClash, "import a backup into", path, "Their keys of epoch \(epoch) differ.",
            advice: "The backup belongs to another vault: import only its items, or set the present vault aside.")
    }
}
