internal import AppGroups
internal import ContainerAudit
internal import KeyVault
internal import SealedState
internal import Sealing
internal import SharedFiles

/// Which error of which floor ends with which status; what is not listed has the status beside it.
enum StatusTable {
    static func status(of code: StoreError.Code) -> ExitStatus { store[code] ?? .dataError }
    static func status(of code: VaultError.Code) -> ExitStatus { vault[code] ?? .configuration }
    static func status(of code: AppGroupError.Code) -> ExitStatus { group[code] ?? .usage }
    static func status(of code: AuditError.Code) -> ExitStatus { audit[code] ?? .inputOutput }
    static func status(of code: SealingError.Code) -> ExitStatus { sealing[code] ?? .dataError }
    static func status(of code: FileError.Code, _ role: FileRole) -> ExitStatus {
        let special: [FileError.Code: ExitStatus] =
            switch role {
            case .input: [:]
            case .output: outputFile
            case .vault: vaultFile
            }
        return special[code] ?? file[code] ?? .inputOutput
    }

    private static let store: [StoreError.Code: ExitStatus] = [
        .absent: .notFound, .containerMissing: .notFound, .vaultAbsent: .notFound, .locked: .locked,
        .wrongPassphrase: .wrongPassphrase, .wrongKeyFile: .wrongPassphrase, .orphanedBlobs: .configuration,
        .unsupportedFormat: .newerVersion, .tooNew: .newerVersion, .stale: .unavailable, .notYetValid: .unavailable,
        .invalidName: .usage, .lockTimeout: .temporary, .cancelled: .temporary, .durabilityUnknown: .inputOutput,
        .noSpace: .inputOutput, .permissionDenied: .noPermission, .container: .configuration, .vault: .configuration,
        .file: .inputOutput, .vaultRolledBack: .dataError, .retiredEpoch: .dataError, .keyInUse: .unavailable,
        .keyNotFound: .notFound,
    ]

    private static let vault: [VaultError.Code: ExitStatus] = [
        .absent: .notFound, .locked: .locked, .corrupt: .dataError, .wrongPassphrase: .wrongPassphrase,
        .wrongKeyFile: .wrongPassphrase, .malformedKeyFile: .dataError, .unsupported: .newerVersion,
        .wrongGroup: .dataError, .unsafeFile: .configuration, .otherFileSystem: .configuration,
        .orphanedBlobs: .configuration,
        .alreadyExists: .duplicate, .noActiveKey: .dataError, .lockTimeout: .temporary, .invalidArgument: .usage,
        .outOfMemory: .systemError, .file: .inputOutput,
        .denied: .noPermission, .wrongIdentity: .wrongPassphrase, .wrongCredential: .wrongPassphrase,
        .malformedIdentity: .dataError, .noCredential: .noInput, .duplicateItem: .duplicate, .itemNotFound: .notFound,
        .wrongDevice: .unavailable, .tooLarge: .dataError, .tooCostly: .usage, .slotNotFound: .notFound,
        .lastSlot: .unavailable, .rolledBack: .dataError, .replaced: .dataError, .keyNotFound: .notFound,
        .keyInUse: .unavailable, .logFailed: .inputOutput, .notAnExport: .dataError, .isAnExport: .dataError,
        .noUnlockCache: .unavailable, .noMachineIdentity: .unavailable, .epochClash: .dataError,
        .durabilityUnknown: .inputOutput,
    ]

    private static let group: [AppGroupError.Code: ExitStatus] = [
        .invalidHome: .configuration, .homeUnavailable: .configuration, .containerMissing: .notFound,
        .notADirectory: .configuration, .unsafeContainer: .configuration, .notShared: .configuration,
        .file: .inputOutput,
    ]

    private static let audit: [AuditError.Code: ExitStatus] = [
        .notFound: .noInput, .notADirectory: .noInput, .containerMissing: .notFound,
        .permissionDenied: .noPermission, .invalidHome: .configuration, .wrongPassphrase: .wrongPassphrase,
        .wrongKeyFile: .wrongPassphrase,
    ]

    private static let sealing: [SealingError.Code: ExitStatus] = [
        .unsupportedFormat: .newerVersion, .invalidArgument: .internalError,
    ]

    private static let file: [FileError.Code: ExitStatus] = [
        .notFound: .noInput, .notRegularFile: .noInput, .notDirectory: .noInput, .permissionDenied: .noPermission,
        .alreadyExists: .cannotCreate, .readOnly: .cannotCreate, .tooLarge: .dataError, .tooDeep: .dataError,
        .unsafePath: .configuration, .unsafeMode: .configuration, .wrongOwner: .configuration,
        .notShared: .configuration,
        .tooManyOpenFiles: .systemError, .unsupported: .systemError, .lockTimeout: .temporary,
        .lockFileReplaced: .temporary, .cancelled: .temporary, .invalidName: .usage,
    ]

    private static let outputFile: [FileError.Code: ExitStatus] = [
        .notFound: .cannotCreate, .notRegularFile: .cannotCreate, .notDirectory: .cannotCreate,
        .unsafePath: .cannotCreate, .invalidName: .cannotCreate, .tooLarge: .inputOutput,
    ]

    private static let vaultFile: [FileError.Code: ExitStatus] = [
        .notRegularFile: .configuration, .notDirectory: .configuration,
    ]
}

/// What a file is to a command: the same failure means another status.
enum FileRole: Sendable {
    case input, output, vault
}
