internal import AppGroups
package import KeyVault
package import SealedBackends
package import Sealing
package import SharedFiles

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
