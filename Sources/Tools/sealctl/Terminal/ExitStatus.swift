internal import AppGroups
internal import ContainerAudit
internal import KeyVault
internal import SealedState
internal import Sealing
internal import SharedFiles
internal import XcodeEntitlements

/// The exit statuses: sysexits(3), and the low bytes of the keychain's statuses, which users of `security` know.
///
/// `docs/sealctl.md` and `sealctl.1` have the same numbers and meanings, which a test compares.
enum ExitStatus: Int32, CaseIterable, Sendable {
    case success = 0
    case findings = 1
    /// errSecInteractionNotAllowed, -25308.
    case locked = 36
    /// errSecItemNotFound, -25300.
    case notFound = 44
    /// errSecDuplicateItem, -25299.
    case duplicate = 45
    /// errSecAuthFailed, -25293.
    case wrongPassphrase = 51
    /// EX_USAGE.
    case usage = 64
    /// EX_DATAERR.
    case dataError = 65
    /// EX_NOINPUT.
    case noInput = 66
    /// EX_UNAVAILABLE.
    case unavailable = 69
    /// EX_SOFTWARE.
    case internalError = 70
    /// EX_OSERR.
    case systemError = 71
    /// EX_CANTCREAT.
    case cannotCreate = 73
    /// EX_IOERR.
    case inputOutput = 74
    /// EX_TEMPFAIL.
    case temporary = 75
    /// EX_PROTOCOL.
    case newerVersion = 76
    /// EX_NOPERM.
    case noPermission = 77
    /// EX_CONFIG.
    case configuration = 78
    /// As env(1) and a shell: the program was found and cannot be run.
    case programDenied = 126
    /// As env(1) and a shell: there is no such program.
    case programNotFound = 127

    /// The meaning, in a few words.
    var meaning: String { Self.meanings[self] ?? "" }

    private static let meanings: [ExitStatus: String] = [
        .success: "done",
        .findings: "findings of an audit or a check; something fails (doctor)",
        .locked: "the vault is locked",
        .notFound: "no such record, item, slot, key, container or vault",
        .duplicate: "it exists already",
        .wrongPassphrase: "wrong passphrase, key file, credential or identity",
        .usage: "wrong options, names or group",
        .dataError: "refused data: not JSON, tampered, from another place, rolled back",
        .noInput: "the input file does not exist, or is not a file",
        .unavailable: "not now or not here: expired, a condition, no terminal",
        .internalError: "a fault of sealctl",
        .systemError: "the system lacks memory, descriptors or a feature",
        .cannotCreate: "the output file cannot be created",
        .inputOutput: "reading or writing failed, or the disk is full",
        .temporary: "another program holds a lock: try again",
        .newerVersion: "made by a newer version",
        .noPermission: "the system's permissions do not allow it",
        .configuration: "modes, owners, variables or settings are unsafe",
        .programDenied: "the program of exec cannot be run",
        .programNotFound: "there is no program of that name for exec",
    ]
}

/// The statuses of the errors of each module. Codes that are not listed have the default status.
enum StatusTable {
    static func status(of code: StoreError.Code) -> ExitStatus { store[code] ?? .internalError }
    static func status(of code: VaultError.Code) -> ExitStatus { vault[code] ?? .configuration }
    static func status(of code: AppGroupError.Code) -> ExitStatus { group[code] ?? .usage }
    static func status(of code: AuditError.Code) -> ExitStatus { audit[code] ?? .inputOutput }
    static func status(of code: ProvisioningError.Code) -> ExitStatus { provisioning[code] ?? .dataError }
    static func status(of code: SealingError.Code) -> ExitStatus { sealing[code] ?? .dataError }
    static func status(of code: FileError.Code, _ role: SubjectRole) -> ExitStatus {
        let special: [FileError.Code: ExitStatus] =
            switch role {
            case .input, .part: [:]
            case .output: outputFile
            case .vault: vaultFile
            }
        return special[code] ?? file[code] ?? .inputOutput
    }

    /// The statuses of every code of a store, because a missing code would be reported as a fault of sealctl.
    private static let store: [StoreError.Code: ExitStatus] = [refused, failed, moving]
        .reduce(into: [:]) { table, part in table.merge(part) { first, _ in first } }

    private static let refused: [StoreError.Code: ExitStatus] = [
        .tooLarge: .dataError, .malformed: .dataError, .unsupportedFormat: .newerVersion, .wrongKind: .dataError,
        .wrongGroup: .dataError, .wrongName: .dataError, .unknownKey: .dataError, .wrongSuite: .dataError,
        .wrongEpoch: .dataError, .retiredEpoch: .dataError, .downgraded: .dataError,
        .wrongCommitment: .dataError, .tampered: .dataError, .notAuthorized: .noPermission,
        .rosterBehind: .newerVersion, .missing: .notFound, .replayed: .dataError, .forked: .dataError,
        .sequenceJump: .dataError, .tooOld: .dataError, .tooNew: .newerVersion, .unsafeStructure: .dataError,
        .undecodable: .dataError, .migrationFailed: .dataError, .stale: .unavailable, .notYetValid: .unavailable,
        .invalid: .dataError,
    ]

    private static let failed: [StoreError.Code: ExitStatus] = [
        .absent: .notFound, .locked: .locked,
        .unencodable: .dataError, .invalidName: .usage, .declined: .dataError, .conflict: .unavailable,
        .invalidCursor: .dataError, .invalidRange: .usage, .lockTimeout: .temporary, .leaseTimeout: .temporary,
        .leaseLost: .temporary,
        .cancelled: .temporary, .lockLost: .inputOutput, .outcomeUnknown: .inputOutput,
        .backendUnknown: .configuration,
        .durabilityUnknown: .inputOutput, .noSpace: .inputOutput,
        .quotaExceeded: .inputOutput, .readOnly: .inputOutput, .file: .inputOutput, .watchLimit: .systemError,
        .permissionDenied: .noPermission, .container: .configuration, .containerMissing: .notFound,
        .vaultAbsent: .notFound, .vaultMissing: .notFound, .vaultReplaced: .dataError, .vaultNotAccepted: .unavailable,
        .vaultCorrupt: .dataError, .vaultRolledBack: .dataError, .vault: .configuration, .roster: .configuration,
        .wrongPassphrase: .wrongPassphrase, .wrongKeyFile: .wrongPassphrase, .orphanedBlobs: .configuration,
        .keyInUse: .unavailable, .keyNotFound: .notFound, .notEntitled: .configuration, .entitlements: .configuration,
    ]

    private static let moving: [StoreError.Code: ExitStatus] = [
        .sourceUnusable: .noInput, .sourceMalformed: .dataError, .sourceChanged: .temporary,
        .sourceKept: .inputOutput, .verificationFailed: .inputOutput, .wrongKey: .wrongPassphrase,
        .cipherUnavailable: .systemError,
    ]

    private static let vault: [VaultError.Code: ExitStatus] = [
        .absent: .notFound, .locked: .locked, .corrupt: .dataError, .wrongPassphrase: .wrongPassphrase,
        .wrongKeyFile: .wrongPassphrase, .malformedKeyFile: .dataError, .unsupported: .newerVersion,
        .wrongGroup: .dataError, .unsafeFile: .configuration, .otherFileSystem: .configuration,
        .orphanedBlobs: .configuration, .containerAway: .notFound,
        .alreadyExists: .duplicate, .noActiveKey: .dataError, .lockTimeout: .temporary, .invalidArgument: .usage,
        .outOfMemory: .systemError, .file: .inputOutput, .cancelled: .temporary,
        .denied: .noPermission, .wrongIdentity: .wrongPassphrase, .wrongCredential: .wrongPassphrase,
        .malformedIdentity: .dataError, .noCredential: .noInput, .duplicateItem: .duplicate, .itemNotFound: .notFound,
        .wrongDevice: .unavailable, .tooLarge: .dataError, .tooCostly: .usage, .slotNotFound: .notFound,
        .lastSlot: .unavailable, .rolledBack: .dataError, .replaced: .dataError, .keyNotFound: .notFound,
        .keyInUse: .unavailable, .logFailed: .inputOutput, .notAnExport: .dataError, .isAnExport: .dataError,
        .missing: .notFound, .forked: .dataError, .notAccepted: .unavailable, .downgraded: .dataError,
        .unvouchedSlots: .unavailable, .noUnlockCache: .unavailable, .noMachineIdentity: .unavailable,
        .epochClash: .dataError,
        .durabilityUnknown: .inputOutput, .notEntitled: .configuration, .entitlements: .configuration,
        .malformedKey: .dataError, .malformedRoster: .dataError, .wrongTeamKey: .noPermission,
        .teamKeyNeeded: .noPermission, .noRoster: .notFound,
        .olderRoster: .dataError,
    ]

    private static let group: [AppGroupError.Code: ExitStatus] = [
        .invalidHome: .configuration, .homeUnavailable: .configuration, .containerMissing: .notFound,
        .notADirectory: .configuration, .unsafeContainer: .configuration, .notShared: .configuration,
        .file: .inputOutput, .notEntitled: .configuration, .unusableEntitlements: .configuration,
        .malformedEntitlements: .dataError, .unresolvedVariable: .dataError, .damagedRegistry: .dataError,
        .ambiguousContainer: .configuration, .registryBusy: .temporary, .notAMember: .notFound,
        .containerAway: .notFound, .tooManyMembers: .unavailable, .wrongStyle: .unavailable, .notInTrash: .notFound,
        .nobodyListens: .notFound, .socketInUse: .unavailable, .peerRefused: .noPermission,
        .peerUnknown: .noPermission, .peerUnproven: .noPermission, .peerBusy: .temporary, .timeout: .temporary,
        .cancelled: .temporary, .connectionLost: .inputOutput, .messageTooLarge: .dataError,
        .malformedMessage: .dataError, .requestFailed: .unavailable, .keysUnavailable: .configuration,
    ]

    private static let audit: [AuditError.Code: ExitStatus] = [
        .notFound: .noInput, .notADirectory: .noInput, .containerMissing: .notFound,
        .permissionDenied: .noPermission, .invalidHome: .configuration, .notEntitled: .configuration,
        .wrongPassphrase: .wrongPassphrase,
        .wrongKeyFile: .wrongPassphrase, .malformedIgnoreList: .dataError, .malformedBaseline: .dataError,
        .withoutKeys: .locked,
    ]

    private static let provisioning: [ProvisioningError.Code: ExitStatus] = [
        .file: .inputOutput, .notAProject: .usage,
    ]

    private static let sealing: [SealingError.Code: ExitStatus] = [
        .unsupportedFormat: .newerVersion, .invalidArgument: .internalError,
    ]

    private static let file: [FileError.Code: ExitStatus] = [
        .notFound: .noInput, .notRegularFile: .noInput, .notDirectory: .noInput, .permissionDenied: .noPermission,
        .alreadyExists: .cannotCreate, .readOnly: .cannotCreate, .tooLarge: .dataError, .tooDeep: .dataError,
        .unsafePath: .configuration, .unsafeMode: .configuration, .wrongOwner: .configuration,
        .secondName: .configuration, .notShared: .configuration,
        .tooManyOpenFiles: .systemError, .watchLimit: .systemError, .unsupported: .systemError,
        .lockTimeout: .temporary, .inputTimeout: .temporary,
        .lockFileReplaced: .temporary, .overtaken: .temporary, .cancelled: .temporary, .invalidName: .usage,
    ]

    private static let outputFile: [FileError.Code: ExitStatus] = [
        .notFound: .cannotCreate, .notRegularFile: .cannotCreate, .notDirectory: .cannotCreate,
        .unsafePath: .cannotCreate, .invalidName: .cannotCreate, .tooLarge: .inputOutput,
    ]

    private static let vaultFile: [FileError.Code: ExitStatus] = [
        .notRegularFile: .configuration, .notDirectory: .configuration,
    ]
}

/// The topic about exit statuses, generated from the statuses themselves.
enum ExitStatusText {
    static var topic: String {
        let lines = ExitStatus.allCases.map { status in
            let number = String(status.rawValue)
            return String(repeating: " ", count: 4 - number.count) + number + "  " + status.meaning
        }
        return """
            \(lines.joined(separator: "\n"))

            Statuses from 64 to 78 are those of sysexits(3), 126 and 127 those of env(1).
            36, 44, 45 and 51 are the low bytes of the keychain's statuses, as in macOS'
            security command. With --json the error's code is more specific: sealctl help
            formats.
            """
    }
}
