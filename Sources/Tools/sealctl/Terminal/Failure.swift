internal import AppGroups
internal import AuditReports
internal import ContainerAudit
internal import Glibc
internal import KeyVault
internal import SealedState
internal import Sealing
internal import SharedFiles
internal import XcodeEntitlements

/// The failure of a command: the operation and the reason in one line, the advice in the next, and a status.
struct Failure: Error, Sendable {
    let status: ExitStatus
    /// A stable code, for programs.
    let code: String
    /// The failed operation and the reason, without an end mark.
    let message: String
    /// The advice, as a sentence; may be empty.
    let hint: String
    /// True if nothing is reported, because the reader closed the pipe or the report already shows it.
    let isSilent: Bool

    init(_ status: ExitStatus, _ code: String, _ message: String, hint: String, isSilent: Bool = false) {
        self.status = status
        self.code = code
        self.message = Self.withoutEndMark(message.printable)
        self.hint = hint.printable
        self.isSilent = isSilent
    }

    /// The failure for unknown arguments of the process.
    static var noArguments: Failure {
        Failure(
            .systemError, "noArguments",
            "cannot read the command line: the C library passed no arguments, so the command is not known",
            hint: "Run it on a system with glibc, and with a program name as the first argument; nothing was done.")
    }

    /// Writes the failure to standard error.
    func report(asJSON: Bool) {
        if isSilent { return }
        StandardStreams.say(asJSON ? json : text)
    }

    /// The message as a sentence. The parser's messages may end with a question mark.
    private var sentence: String { message.hasSuffix("?") ? message : message + "." }

    /// Two lines: the message and the advice.
    private var text: String {
        "sealctl: \(sentence)" + (hint.isEmpty ? "" : "\n  \(hint)")
    }

    private var json: String {
        let fields: [(String, JSONText)] = [
            ("code", .string(code)), ("message", .string(sentence)), ("hint", .string(hint)),
        ]
        return JSONText.object(fields).text
    }

    private static func withoutEndMark(_ message: String) -> String {
        message.hasSuffix(".") ? String(message.dropLast()) : message
    }
}

/// The meaning of errors of other modules for users of the command line.
extension Failure {
    /// Creates a failure with the code and the words of a library's error, and with better advice if the command line
    /// has some.
    private init(_ status: ExitStatus, _ error: some StructuredError, hint: String? = nil) {
        self.init(status, error.code.rawValue, error.details.message, hint: hint ?? error.advice)
    }

    /// - Parameter role: `.output` for the file or pipe after `-o`, or standard output.
    init(_ error: FileError, _ role: SubjectRole = .input) {
        self.init(
            StatusTable.status(of: error.code, role), error.code.rawValue, error.details.message,
            hint: role == .output ? Hints.output(error) : error.advice,
            isSilent: role == .output && error.errno == EPIPE)
    }

    init(_ error: VaultError) {
        // If a change was not logged, the failure concerns the log. Its file is only the place.
        if let file = error.underlying, error.code != .logFailed {
            self.init(StatusTable.status(of: file.code, error.details.role), file)
        } else {
            self.init(StatusTable.status(of: error.code), error, hint: Hints.vault[error.code])
        }
    }

    init(_ error: AppGroupError) {
        if error.code == .file, let file = error.underlying {
            self.init(file)
        } else {
            self.init(StatusTable.status(of: error.code), error)
        }
    }

    /// Creates a failure for an error whose cause may be an error of a module below the store, which has the path and
    /// the permissions.
    init(_ error: StoreError) {
        let status = StatusTable.status(of: error.code)
        switch error.cause {
        case let cause as VaultError: self.init(cause)
        case let cause as AppGroupError: self.init(cause)
        // A file of the container, and none that the caller named.
        case let cause as FileError where error.code == .file || error.code == .permissionDenied:
            self.init(cause, .vault)
        case let cause as FileError:
            self.init(
                status, error, hint: error.code == .tooLarge && cause.errno == nil ? Hints.oversized : cause.advice)
        default: self.init(status, error, hint: Hints.advice(error))
        }
    }

    init(_ error: SealingError, _ operation: String, _ subject: String) {
        let advice = Hints.sealing[error.code] ?? error.advice
        self.init(
            StatusTable.status(of: error.code), error.code.rawValue,
            ErrorDetails(operation, subject, error.detail, advice: advice).message, hint: advice)
    }

    init(_ error: AuditError) { self.init(StatusTable.status(of: error.code), error) }

    init(_ error: ProvisioningError) {
        if error.code == .file, let file = error.underlying {
            self.init(file)
        } else {
            self.init(StatusTable.status(of: error.code), error)
        }
    }

    init(_ error: StreamFailure<FileError>, _ operation: String, _ subject: String) {
        switch error {
        case .sealing(let error): self.init(error, operation, subject)
        case .input(let error): self.init(error)
        case .output(let error): self.init(error, .output)
        }
    }

    /// Runs a step and converts its typed error to a failure.
    static func onFiles<Result: ~Copyable>(
        _ role: SubjectRole = .input, _ body: () throws(FileError) -> Result
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
