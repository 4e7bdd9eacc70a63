/// How a command ends: sysexits(3), and the low bytes of the keychain's statuses that users of `security` know.
///
/// `docs/sealctl.md` and `sealctl.1` have the same table.
enum ExitStatus: Int32, CaseIterable, Sendable {
    case success = 0
    /// The audit, the check of entitlements or the doctor found something to mend.
    case findings = 1
    /// The vault is locked (errSecInteractionNotAllowed, -25308).
    case locked = 36
    /// No such record, container or vault (errSecItemNotFound, -25300).
    case notFound = 44
    /// It exists already (errSecDuplicateItem, -25299).
    case duplicate = 45
    /// Wrong passphrase or key file (errSecAuthFailed, -25293).
    case wrongPassphrase = 51
    /// Wrong options, names or group (EX_USAGE).
    case usage = 64
    /// Refused data: no JSON, tampered, from elsewhere, rolled back (EX_DATAERR).
    case dataError = 65
    /// The input file is not there or not a file (EX_NOINPUT).
    case noInput = 66
    /// There is a value, but not a valid one now, or no terminal to ask at (EX_UNAVAILABLE).
    case unavailable = 69
    /// A fault of sealctl itself (EX_SOFTWARE).
    case internalError = 70
    /// The system lacks memory, descriptors or a feature (EX_OSERR).
    case systemError = 71
    /// The output file cannot be made (EX_CANTCREAT).
    case cannotCreate = 73
    /// Reading or writing failed, the disk is full, or whoever reads the output has gone (EX_IOERR).
    case inputOutput = 74
    /// Somebody else holds a lock: try again (EX_TEMPFAIL).
    case temporary = 75
    /// Made by a newer version (EX_PROTOCOL).
    case newerVersion = 76
    /// The system's permissions refuse it (EX_NOPERM).
    case noPermission = 77
    /// Modes, owners or variables are not as they must be (EX_CONFIG).
    case configuration = 78
}
