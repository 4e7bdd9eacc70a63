internal import Glibc
internal import KeyVault
internal import SealedState
internal import Sealing
internal import SharedFiles

/// Advice for users of the command line, where it is better than the library's, which is written for programmers.
enum Hints {
    static let store: [StoreError.Code: String] = [
        .absent: "Try sealctl list to see the records.",
        .tooLarge: oversized,
        .replayed: outOfOrder, .forked: outOfOrder, .sequenceJump: outOfOrder,
        .malformed: refused, .tampered: refused, .wrongCommitment: refused, .undecodable: refused,
        .unsafeStructure: refused, .retiredEpoch: refused,
        .stale: "Try again when the producing program has refreshed it; sealctl inspect shows it.",
        .tooNew: "Update sealctl.", .unsupportedFormat: "Update sealctl.",
        .lockTimeout: "Try again, or end the program that holds the lock.",
    ]

    /// The advice for sealed files, which are handled by other commands than records.
    static let files: [StoreError.Code: String] = [
        .absent: "Try sealctl file list to see the files.",
        .missing: "Write it again with sealctl file put, or restore the container from a backup.",
        .replayed: refusedFile, .forked: refusedFile, .sequenceJump: refusedFile, .malformed: refusedFile,
        .tampered: refusedFile, .wrongCommitment: refusedFile, .wrongName: refusedFile, .retiredEpoch: refusedFile,
    ]

    private static let refusedFile =
        "Do not use it. sealctl file put replaces it; sealctl audit shows what else was changed."

    /// The advice for suites of defaults, which are handled by other commands than records.
    private static let suites: [StoreError.Code: String] = [
        .malformed: refusedSuite, .tampered: refusedSuite, .wrongCommitment: refusedSuite, .undecodable: refusedSuite,
        .unsafeStructure: refusedSuite, .retiredEpoch: refusedSuite, .replayed: refusedSuite, .forked: refusedSuite,
        .sequenceJump: refusedSuite, .wrongKind: refusedSuite, .wrongName: refusedSuite, .wrongGroup: refusedSuite,
        .notYetValid: "Correct the clock; sealctl defaults write seals the suite with the present time.",
        .tooNew: "Update sealctl.", .unsupportedFormat: "Update sealctl.",
        .lockTimeout: "Try again, or end the program that holds the lock.",
    ]

    static func advice(_ error: StoreError) -> String {
        let isSuite = error.subject.hasPrefix(DefaultsSuite.namePrefix)
        return (isSuite ? suites : store)[error.code] ?? error.advice
    }

    static let vault: [VaultError.Code: String] = [
        .absent: "Try sealctl init to create it, or sealctl vault create without a container.",
        .wrongPassphrase: "Try again; the vault is unchanged.",
        .wrongKeyFile: "Try the --key-file that belongs to this vault, or restore it.",
        .alreadyExists: "Use the existing one; sealctl list shows its records.",
    ]

    static let sealing: [SealingError.Code: String] = [
        .tooLarge: oversized,
        .wrongKind: "Try sealctl get for records and sealctl decrypt for streams.",
        .wrongGroup: "Try the --group that it was sealed for.",
        .wrongName: "Try the --name that a stream was sealed with; put a record's file back under its own name.",
        .unsupportedFormat: "Update sealctl.",
        .retiredEpoch: "If it was sealed before that: sealctl decrypt --accept-retired, then encrypt it again.",
    ]

    /// Returns the advice for the output file of a command.
    static func output(_ error: FileError) -> String {
        if error.errno == EBADF { return "Standard output is closed: leave it open, or send it to a file." }
        return switch error.code {
        case .notFound: "Create its directory first, or try another -o."
        case .notRegularFile, .notDirectory, .unsafePath, .invalidName: "Try the path of a file after -o."
        case .noSpace, .quotaExceeded: "Free some space there, or try another -o."
        case .tooLarge: "Raise the limit (ulimit -f), or try another -o."
        default: error.advice
        }
    }

    /// The advice for a record that is larger than the group's limit.
    static let oversized = "See the group's limit, or raise it: sealctl container record-limit."
    private static let outOfOrder =
        "Do not use it: the next write of the program that produces it, or sealctl put, replaces it."
    private static let refusedSuite =
        "Replace it: sealctl defaults import SUITE FILE, or defaults delete SUITE; a copy is kept in quarantine."
    private static let refused = "Do not use it: write the record again; sealctl audit shows other faults."
}
