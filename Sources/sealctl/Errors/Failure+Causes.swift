internal import AppGroups
internal import ContainerAudit
internal import Glibc
internal import KeyVault
internal import Provisioning
internal import SealedState
internal import Sealing
internal import SharedFiles

/// What errors of the floors below mean for the person at the command line.
extension Failure {
    init(_ error: FileError, _ role: FileRole = .input) {
        let advice = error.advice.printable
        let text = error.description
        let message = text.hasSuffix(advice) ? String(text.dropLast(advice.count + 1)) : text
        self.init(
            StatusTable.status(of: error.code, role), error.code.rawValue, message,
            hint: role == .output ? Hints.output(error) : error.advice,
            isSilent: role == .output && error.errno == EPIPE)
    }

    init(_ error: VaultError) {
        // That a change was not logged is the failure; the log's file is only where.
        if let file = error.underlying, error.code != .logFailed {
            // A key or passphrase file is an input that somebody named; the vault is part of the settings.
            self.init(file, error.operation.hasSuffix("the vault") ? .vault : .input)
            return
        }
        self.init(
            StatusTable.status(of: error.code), error.code.rawValue,
            Self.message(error.operation, error.subject, error.reason),
            hint: Hints.vault[error.code] ?? error.advice)
    }

    init(_ error: AppGroupError) {
        if error.code == .file, let file = error.underlying {
            self.init(file)
            return
        }
        self.init(
            StatusTable.status(of: error.code), error.code.rawValue,
            "cannot \(error.operation): \"\(error.subject)\": \(error.reason)", hint: error.advice)
    }

    /// A failure whose cause lies in a floor below the store is that floor's: it knows path and permissions.
    init(_ error: StoreError) {
        switch error.cause {
        case let cause as VaultError: self.init(cause)
        case let cause as AppGroupError: self.init(cause)
        case let cause as FileError where error.code == .file || error.code == .permissionDenied: self.init(cause)
        case let cause as FileError:
            let file = Failure(cause)
            self.init(
                StatusTable.status(of: error.code), error.code.rawValue,
                "cannot \(error.operation) \(error.subject): \(file.message)",
                hint: error.code == .tooLarge ? Hints.oversized : file.hint)
        default:
            self.init(
                StatusTable.status(of: error.code), error.code.rawValue,
                Self.message(error.operation, error.subject, error.reason),
                hint: Hints.advice(error))
        }
    }

    init(_ error: SealingError, _ operation: String, _ subject: String) {
        self.init(
            StatusTable.status(of: error.code), error.code.rawValue,
            Self.message(operation, subject, error.detail), hint: Hints.sealing[error.code] ?? error.advice)
    }

    init(_ error: AuditError) {
        self.init(
            StatusTable.status(of: error.code), error.code.rawValue,
            Self.message(error.operation, error.subject, error.reason), hint: error.advice)
    }

    init(_ error: ProvisioningError) {
        if error.code == .file, let file = error.underlying {
            self.init(file)
            return
        }
        self.init(
            StatusTable.status(of: error.code), error.code.rawValue,
            Self.message(error.operation, error.subject, error.reason), hint: error.advice)
    }

    init(_ error: StreamFailure<FileError>, _ operation: String, _ subject: String) {
        switch error {
        case .sealing(let error): self.init(error, operation, subject)
        case .input(let error): self.init(error)
        case .output(let error): self.init(error, .output)
        }
    }

    /// `cannot read x: it was deleted`: the reason of a lower floor is a sentence, here it ends one.
    private static func message(_ operation: String, _ subject: String, _ reason: String) -> String {
        let first = reason.prefix(1), second = reason.dropFirst().prefix(1)
        let isWord = second.allSatisfy { $0.isLowercase || $0 == " " }
        return "cannot \(operation) \(subject): \(isWord ? first.lowercased() : String(first))\(reason.dropFirst())"
    }

    /// Runs a step and turns its typed error into a failure.
    static func onFiles<Result: ~Copyable>(
        _ role: FileRole = .input, _ body: () throws(FileError) -> Result
    ) throws(Failure) -> Result {
        do throws(FileError) { return try body() } catch { throw Failure(error, role) }
    }

    static func onStore<Result: ~Copyable>(
        _ body: () throws(StoreError) -> Result
    ) throws(Failure) -> Result {
        do throws(StoreError) { return try body() } catch { throw Failure(error) }
    }

    static func onVault<Result: ~Copyable>(
        _ body: () throws(VaultError) -> Result
    ) throws(Failure) -> Result {
        do throws(VaultError) { return try body() } catch { throw Failure(error) }
    }

    static func onGroup<Result: ~Copyable>(
        _ body: () throws(AppGroupError) -> Result
    ) throws(Failure) -> Result {
        do throws(AppGroupError) { return try body() } catch { throw Failure(error) }
    }
}
