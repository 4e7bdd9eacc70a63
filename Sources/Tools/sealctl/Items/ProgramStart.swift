internal import CryptoPrimitives
internal import Glibc
internal import KeyVault
internal import SharedFiles

/// The last step of `exec`: replaces this process by another program.
struct ProgramStart {
    /// The number of words at the end of this command line that are the program and its arguments. They are passed on
    /// as pointers, because `String` would not keep bytes that are not UTF-8.
    let wordCount: Int
    let variables: [SecretVariable]
    let pipes: [ItemPipe]

    /// Starts the program. Returns only by throwing.
    func run() throws(Failure) {
        for pipe in pipes { try pipe.place() }
        Self.restoreProcess()
        try withSecrets(variables[...], Self.inherited(without: variables.map(\.name))) { environment throws(Failure) in
            try start(environment)
        }
    }

    /// Returns the environment without the variables that an item replaces.
    private static func inherited(without names: [String]) -> [UnsafeMutablePointer<CChar>?] {
        var kept: [UnsafeMutablePointer<CChar>?] = []
        var next = environ
        while let entry = next.pointee {
            if !names.contains(where: { isNamed(entry, $0) }) { kept.append(entry) }
            next += 1
        }
        return kept
    }

    private static func isNamed(_ entry: UnsafeMutablePointer<CChar>, _ name: String) -> Bool {
        let count = name.utf8.count
        return strncmp(entry, name, count) == 0 && entry[count] == CChar(bitPattern: UInt8(ascii: "="))
    }

    /// Passes an environment to the body, with each secret's text in its guarded memory.
    private func withSecrets(
        _ rest: ArraySlice<SecretVariable>, _ entries: [UnsafeMutablePointer<CChar>?],
        _ body: ([UnsafeMutablePointer<CChar>?]) throws(Failure) -> Void
    ) throws(Failure) {
        guard let next = rest.first else { return try body(entries + [nil]) }
        try next.withText { text throws(Failure) in
            // execve(2) only reads the text.
            try withSecrets(rest.dropFirst(), entries + [UnsafeMutablePointer(mutating: text)], body)
        }
    }

    private func start(_ environment: [UnsafeMutablePointer<CChar>?]) throws(Failure) {
        guard let all = ProgramArguments.vector, let name = all[ProgramArguments.count - wordCount] else {
            throw Failure.noArguments
        }
        let words = all + (ProgramArguments.count - wordCount)
        var failure = ENOENT
        if strchr(name, Int32(UInt8(ascii: "/"))) != nil {
            _ = execve(name, words, environment)
            failure = errno
        } else {
            for path in Self.candidates(String(cString: name)) {
                _ = execve(path, words, environment)
                // As in execvp(3), a file without execute permission does not hide a program in a later directory.
                if errno == ENOENT || errno == ENOTDIR { continue }
                failure = errno
                if failure != EACCES { break }
            }
        }
        throw Self.failure(String(cString: name), failure)
    }

    /// Returns the paths at which a program without a path is searched for.
    private static func candidates(_ name: String) -> [String] {
        let path = getenv("PATH").map { String(cString: $0) } ?? "/bin:/usr/bin"
        return path.split(separator: ":", omittingEmptySubsequences: false).map { $0.isEmpty ? name : "\($0)/\(name)" }
    }

    /// Restores the settings that this process changed for itself, because the program expects those that it would have
    /// inherited.
    private static func restoreProcess() {
        for number in [SIGPIPE, SIGXFSZ] { _ = signal(number, SIG_DFL) }
        var limit = SecretProcess.formerCoreLimit
        setrlimit(__rlimit_resource_t(RLIMIT_CORE.rawValue), &limit)
    }

    private static func failure(_ name: String, _ error: Int32) -> Failure {
        switch error {
        case ENOENT:
            Failure(
                .programNotFound, "programNotFound", "the program \(name) does not exist",
                hint: "Check its name and PATH.")
        case EACCES, EPERM:
            Failure(.programDenied, "programDenied", "\(name) is not executable", hint: "Make it executable: chmod +x.")
        case E2BIG:
            Failure(
                .programDenied, VaultError.Code.tooLarge.rawValue,
                "arguments and environment exceed the system's limit", hint: "Try --fd instead of --env.")
        case ENOEXEC:
            Failure(
                .programDenied, "notAProgram", "\(name) is not a program that the system can run",
                hint: "Begin a script with #! and its interpreter, or run that: sealctl exec … -- sh \(name).")
        default:
            Failure(
                .programDenied, "programNotStarted", "\(name) cannot be run: \(String(cString: strerror(error)))",
                hint: "Try the same without sealctl.")
        }
    }
}

/// `NAME=value` with its terminator, as execve(2) takes it, in guarded memory.
final class SecretVariable: Sendable {
    /// The longest such text in bytes with its terminator: MAX_ARG_STRLEN of the kernel.
    private static let limit = 128 << 10

    let name: String
    private let text: SecretBytes

    init(_ binding: VariableBinding, from vault: Vault) throws(Failure) {
        name = binding.name
        let prefix = Array("\(binding.name)=".utf8)
        let item = binding.item
        let text = try item.withValue(from: vault) { value -> SecretBytes? in Self.text(prefix, value) }
        guard let text else {
            throw Failure(
                .dataError, "nulInValue", "the value of \(item.subject) has a NUL, which an environment cannot contain",
                hint: "Try --fd.")
        }
        guard text.count <= Self.limit else {
            throw Failure(
                .dataError, VaultError.Code.tooLarge.rawValue,
                "the value of \(item.subject) is too large for an environment", hint: "Try --fd.")
        }
        self.text = text
    }

    /// Returns `nil` for a value with a NUL, because the program would get only its beginning.
    private static func text(_ prefix: [UInt8], _ value: UnsafeRawBufferPointer) -> SecretBytes? {
        guard !value.contains(0) else { return nil }
        // The unwritten last byte, the terminator, is zero.
        return SecretBytes(count: prefix.count + value.count + 1) { text in
            text.copyBytes(from: prefix)
            UnsafeMutableRawBufferPointer(rebasing: text[prefix.count...]).copyMemory(from: value)
        }
    }

    /// Passes the text to the body.
    func withText<Result>(_ body: (UnsafePointer<CChar>?) throws(Failure) -> Result) throws(Failure) -> Result {
        try text.withUnsafeBytes { text throws(Failure) in
            try body(text.baseAddress?.assumingMemoryBound(to: CChar.self))
        }
    }
}
