internal import CryptoPrimitives
internal import Glibc
internal import KeyVault
internal import SharedFiles

/// The last step of `exec`: another program in the place of this one.
struct ProgramStart {
    /// How many words at the end of our own command line are the program and its arguments. They are handed on where they
    /// lie: as `String` they would not keep bytes that are no UTF-8.
    let wordCount: Int
    let variables: [SecretVariable]
    let pipes: [ItemPipe]

    /// Does not return when the program runs.
    func run() throws(Failure) {
        for pipe in pipes { try pipe.place() }
        Self.restoreProcess()
        try withSecrets(variables[...], Self.inherited(without: variables.map(\.name))) { environment throws(Failure) in
            try start(environment)
        }
    }

    /// Everything but the variables that an item replaces.
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

    /// Lends an environment with every secret's text where it lies.
    private func withSecrets(
        _ rest: ArraySlice<SecretVariable>, _ entries: [UnsafeMutablePointer<CChar>?],
        _ body: ([UnsafeMutablePointer<CChar>?]) throws(Failure) -> Void
    ) throws(Failure) {
        guard let next = rest.first else { return try body(entries + [nil]) }
        try next.withText { text throws(Failure) in
            // execve(2) reads it only.
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
                // As execvp(3): what may not be run does not hide a program further on.
                if errno == ENOENT || errno == ENOTDIR { continue }
                failure = errno
                if failure != EACCES { break }
            }
        }
        throw Self.failure(String(cString: name), failure)
    }

    /// Where a program without a path is looked for.
    private static func candidates(_ name: String) -> [String] {
        let path = getenv("PATH").map { String(cString: $0) } ?? "/bin:/usr/bin"
        return path.split(separator: ":", omittingEmptySubsequences: false).map { $0.isEmpty ? name : "\($0)/\(name)" }
    }

    /// What we changed for ourselves; a program expects what it would have got without us.
    private static func restoreProcess() {
        for number in [SIGPIPE, SIGXFSZ] { _ = signal(number, SIG_DFL) }
        var limit = SecretProcess.formerCoreLimit
        setrlimit(__rlimit_resource_t(RLIMIT_CORE.rawValue), &limit)
    }

    private static func failure(_ name: String, _ error: Int32) -> Failure {
        switch error {
        case ENOENT:
            Failure(.noInput, "programNotFound", "there is no program \(name)", hint: "Check its name and PATH.")
        case EACCES, EPERM:
            Failure(.noPermission, "programDenied", "\(name) may not be run", hint: "Make it executable: chmod +x.")
        case E2BIG:
            Failure(
                .dataError, VaultError.Code.tooLarge.rawValue,
                "arguments and environment are larger than the system takes", hint: "Try --fd instead of --env.")
        case ENOEXEC:
            Failure(
                .dataError, "notAProgram", "\(name) is no program that the system can run",
                hint: "Begin a script with #! and its interpreter, or run that: sealctl exec … -- sh \(name).")
        default:
            Failure(
                .systemError, "programNotStarted", "\(name) cannot be run: \(String(cString: strerror(error)))",
                hint: "Try the same without sealctl.")
        }
    }
}

/// `NAME=value` with its end, as execve(2) takes it, in guarded memory.
final class SecretVariable: Sendable {
    /// The longest such text in bytes with its end: MAX_ARG_STRLEN of the kernel.
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
                .dataError, "nulInValue", "the value of \(item.subject) has a NUL, which no environment can hold",
                hint: "Try --fd.")
        }
        guard text.count <= Self.limit else {
            throw Failure(
                .dataError, VaultError.Code.tooLarge.rawValue,
                "the value of \(item.subject) is too large for an environment", hint: "Try --fd.")
        }
        self.text = text
    }

    /// Nil for a value with a NUL: the program would get its beginning.
    private static func text(_ prefix: [UInt8], _ value: UnsafeRawBufferPointer) -> SecretBytes? {
        guard !value.contains(0) else { return nil }
        // What is left unwritten, the end, is zero.
        return SecretBytes(count: prefix.count + value.count + 1) { text in
            text.copyBytes(from: prefix)
            UnsafeMutableRawBufferPointer(rebasing: text[prefix.count...]).copyMemory(from: value)
        }
    }

    /// Lends the text.
    func withText<Result>(_ body: (UnsafePointer<CChar>?) throws(Failure) -> Result) throws(Failure) -> Result {
        try text.withUnsafeBytes { text throws(Failure) in
            try body(text.baseAddress?.assumingMemoryBound(to: CChar.self))
        }
    }
}
