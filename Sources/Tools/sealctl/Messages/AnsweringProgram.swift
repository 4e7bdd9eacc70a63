internal import CLinux
internal import ChildProcesses
internal import CryptoPrimitives
internal import Glibc
internal import GroupIPC
internal import SharedFiles

/// The program that answers the requests of a channel: it is started for each of them.
struct AnsweringProgram: Sendable {
    private let path: String
    private let words: [String]
    /// The largest reply in bytes.
    private let limit: Int

    private static let threads = BlockingThreadPool(named: "channel-answers", most: 64)
    /// The time that a request waits for a thread: as long as a client waits by default.
    private static let patience = Duration.seconds(10)
    /// The part at the end of standard error that is kept.
    private static let mostText = 64 << 10

    /// The reason why a request has no reply.
    struct Refusal: Error, CustomStringConvertible {
        let description: String
    }

    /// - Parameter words: The program and its arguments.
    /// - Throws: `Failure` `programNotFound` or `programDenied`; `unsafeProgram` for one that another user may change.
    init(_ words: [String], limit: Int) throws(Failure) {
        let name = words.first ?? ""
        let found = try Self.find(name)
        if let place = ProgramPlaces.changeableByOthers(found, words.dropFirst()) {
            throw Failure(
                .configuration, "unsafeProgram", "\(found) is not run: other users may change \(place)",
                hint: "Keep programs that answer, and their files, where only root or this user may write.")
        }
        path = found
        self.words = words
        self.limit = limit
        // An inherited SIG_IGN would hide how the program ended.
        signal(SIGCHLD, SIG_DFL)
    }

    /// Returns the resolved path of a program: the first file that may be run.
    private static func find(_ name: String) throws(Failure) -> String {
        let directories = getenv("PATH").map { String(cString: $0) } ?? "/bin:/usr/bin"
        let paths = name.contains("/") ? [name] : directories.split(separator: ":").map { "\($0)/\(name)" }
        var denied: String?
        for path in paths {
            guard let found = ProgramPlaces.resolved(path) else { continue }
            var facts = stat()
            if stat(found, &facts) == 0, facts.st_mode & S_IFMT == S_IFREG, access(found, X_OK) == 0 { return found }
            denied = denied ?? found
        }
        guard let denied else {
            throw Failure(
                .programNotFound, "programNotFound", "there is no program \(name)",
                hint: "State its path, or look for it with: command -v")
        }
        throw Failure(
            .programDenied, "programDenied", "\(denied) cannot be run", hint: "See its kind and its mode with ls -l.")
    }

    /// Returns the program's standard output.
    ///
    /// - Returns: A byte more than the limit if the output is larger.
    /// - Throws: `Refusal` if it cannot be started or ends with another status than 0; `FileError` if no thread is free
    ///   in time, or the request is withdrawn before that.
    func answer(_ request: [UInt8], _ peer: GroupPeer) async throws -> [UInt8] {
        try await Self.threads.run(atMost: Self.patience, "answer with", path) { call -> Result<[UInt8], Refusal> in
            do throws(Refusal) { return .success(try run(request, peer, call)) } catch { return .failure(error) }
        }.get()
    }

    private func run(_ request: [UInt8], _ peer: GroupPeer, _ call: BlockingCall) throws(Refusal) -> [UInt8] {
        // Another user may have got a name in it since the last request.
        if let place = ProgramPlaces.changeableByOthers(path, words.dropFirst()) {
            throw Refusal(description: "the program is not run: other users may change \(place)")
        }
        guard !call.isCancelled else { throw Refusal(description: "the request was withdrawn") }
        let input = try Self.file(of: request)
        var process = RunningProgram(output: try OutputPipe(), errors: try OutputPipe(), limit: limit, Self.mostText)
        try process.start(program(peer, input.rawValue))
        let status = process.end { call.isCancelled }
        // The listener refuses it as too large, however the program ended.
        if process.bytes.count > limit { return process.bytes }
        guard status == 0 else {
            let line = process.text.split(whereSeparator: \.isNewline).last.map { ": \($0)" } ?? ""
            throw Refusal(description: "the program ended with \(WaitStatus(status))\(line)")
        }
        return process.bytes
    }

    private func program(_ peer: GroupPeer, _ input: Int32) -> ChildProgram {
        var environment: [String] = []
        var next = environ
        while let entry = next.pointee {
            let text = String(cString: entry)
            // The socket of the service manager stays with this process.
            if !text.hasPrefix("SEALED_PEER_") && !text.hasPrefix("LISTEN_") { environment.append(text) }
            next += 1
        }
        environment += [
            "SEALED_PEER_PID=\(peer.processID)", "SEALED_PEER_UID=\(peer.userID)",
            "SEALED_PEER_WRITER=\(peer.writer ?? "")",
        ]
        var program = ChildProgram(.path(path), words, environment: environment)
        program.connect(input, to: 0)
        program.restoreSignals([SIGPIPE, SIGXFSZ, SIGCHLD, SIGINT, SIGTERM, SIGHUP])
        program.hasOwnGroup = true
        return program
    }

    /// Returns a file in memory with the request.
    private static func file(of request: [UInt8]) throws(Refusal) -> Descriptor {
        let number = clinux_memory_file("request")
        guard number >= 0 else { throw Refusal(description: "the system has no memory for the request") }
        let file = Descriptor(owning: number, path: "the request")
        do throws(FileError) { try request.withRawBytes { bytes throws(FileError) in try file.write(bytes) } } catch {
            throw Refusal(description: "the system has no memory for the request")
        }
        lseek(number, 0, SEEK_SET)
        return file
    }
}

/// The files that a command runs, and the directories above them.
private enum ProgramPlaces {
    /// Returns a path with its links resolved; nil if it does not exist.
    static func resolved(_ path: String) -> String? {
        guard let text = realpath(path, nil) else { return nil }
        defer { free(text) }
        return String(validatingCString: text)
    }

    /// Returns the first file or directory that another user may change: of the program, of its interpreters, and of the
    /// files that arguments name, which may be scripts.
    static func changeableByOthers(_ program: String, _ arguments: some Sequence<String>) -> String? {
        let files = started(with: program) + arguments.filter(isFile)
        for file in files {
            // A link may be replaced as well as its target.
            for path in Set([resolved(file), resolvedDirectory(of: file)].compactMap { $0 }) {
                if let place = firstOfOthers(path) { return place }
            }
        }
        return nil
    }

    private static func isFile(_ path: String) -> Bool {
        var facts = stat()
        return stat(path, &facts) == 0 && facts.st_mode & S_IFMT == S_IFREG
    }

    private static func resolvedDirectory(of path: String) -> String? {
        guard let slash = path.lastIndex(of: "/") else { return resolved(".") }
        return resolved(slash == path.startIndex ? "/" : String(path[..<slash]))
    }

    /// The number of interpreters that the kernel starts one for another (`exec_binprm`).
    private static let mostInterpreters = 6

    /// Returns a program, its interpreter, that one's, and the files that their first lines name as arguments.
    private static func started(with program: String) -> [String] {
        var (files, next) = ([program], program)
        for _ in 0..<mostInterpreters {
            let words = firstLineWords(of: next)
            guard let interpreter = words.first else { break }
            files += [interpreter] + words.dropFirst().filter(isFile)
            next = interpreter
        }
        return files
    }

    /// Returns the words behind `#!`; none for another file.
    private static func firstLineWords(of script: String) -> [String] {
        guard let file = fopen(script, "re") else { return [] }
        defer { fclose(file) }
        var line = [CChar](repeating: 0, count: 256)
        guard fgets(&line, Int32(line.count), file) != nil else { return [] }
        let text = String(decoding: line.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
        guard text.hasPrefix("#!") else { return [] }
        return text.dropFirst(2).split(whereSeparator: \.isWhitespace).map(String.init)
    }

    /// Returns the first part of a path that another user than root and this one owns or may write to; in a directory
    /// with the sticky bit only owners replace names.
    private static func firstOfOthers(_ path: String) -> String? {
        var place = ""
        for part in [""] + path.split(separator: "/").map(String.init) {
            place = place == "/" || place.isEmpty ? "/\(part)" : "\(place)/\(part)"
            var facts = stat()
            guard lstat(place, &facts) == 0, TrustedOwner.includes(facts.st_uid) else { return place }
            let isProtected = facts.st_mode & S_IFMT == S_IFDIR && facts.st_mode & S_ISVTX != 0
            if facts.st_mode & 0o022 != 0 && !isProtected { return place }
        }
        return nil
    }
}

/// A pipe that a program writes to.
private final class OutputPipe {
    let start: Int32
    private(set) var end: Int32

    init() throws(AnsweringProgram.Refusal) {
        var ends: [Int32] = [-1, -1]
        let result = clinux_pipe(&ends)
        guard result == 0 else {
            throw AnsweringProgram.Refusal(description: "no pipe: \(String(cString: strerror(-result)))")
        }
        (start, end) = (ends[0], ends[1])
    }

    func closeEnd() {
        if end >= 0 { close(end) }
        end = -1
    }

    deinit {
        closeEnd()
        close(start)
    }
}

/// A started program, until it has ended.
private struct RunningProgram {
    private let output: OutputPipe
    private let errors: OutputPipe
    private let limit: Int
    private let mostText: Int
    private var child: pid_t = 0
    /// Standard output; a byte more than the limit if there is more.
    private(set) var bytes: [UInt8] = []
    /// The end of standard error.
    private var errorBytes: [UInt8] = []

    var text: String { String(decoding: errorBytes, as: UTF8.self) }

    init(output: OutputPipe, errors: OutputPipe, limit: Int, _ mostText: Int) {
        (self.output, self.errors, self.limit, self.mostText) = (output, errors, limit, mostText)
    }

    mutating func start(_ program: ChildProgram) throws(AnsweringProgram.Refusal) {
        var program = program
        program.connect(output.end, to: 1)
        program.connect(errors.end, to: 2)
        do throws(StartFailure) { child = try program.start() } catch {
            throw AnsweringProgram.Refusal(description: "the program cannot be started: \(error)")
        }
        output.closeEnd()
        errors.closeEnd()
    }

    /// Reads both outputs until the program ends. A program whose request is withdrawn, or that writes too much, is
    /// killed with its children. Children that outlive the program are not waited for.
    ///
    /// - Returns: The status of wait(2).
    mutating func end(_ isWithdrawn: () -> Bool) -> Int32 {
        let process = clinux_pidfd_open(child)
        defer { if process >= 0 { close(process) } }
        var isOpen = [true, true]
        var status: Int32 = -1
        while true {
            if isWithdrawn() || bytes.count > limit { kill(-child, SIGKILL) }
            let ended = waitpid(child, &status, WNOHANG)
            isOpen = [isOpen[0] && readOutput(), isOpen[1] && readErrors()]
            if ended != 0 && !(ended < 0 && errno == EINTR) { return status }
            var requests = [
                pollfd(fd: isOpen[0] ? output.start : -1, events: Int16(POLLIN), revents: 0),
                pollfd(fd: isOpen[1] ? errors.start : -1, events: Int16(POLLIN), revents: 0),
                pollfd(fd: process, events: Int16(POLLIN), revents: 0),
            ]
            poll(&requests, 3, 50)
        }
    }

    /// Returns `false` at the end.
    private mutating func readOutput() -> Bool {
        Self.drain(output.start) { part in
            bytes.append(contentsOf: part.prefix(limit + 1 - bytes.count))
            return bytes.count <= limit
        }
    }

    private mutating func readErrors() -> Bool {
        Self.drain(errors.start) { part in
            errorBytes.append(contentsOf: part)
            if errorBytes.count > 2 * mostText { errorBytes.removeFirst(errorBytes.count - mostText) }
            return true
        }
    }

    /// Reads what a pipe holds; returns `false` at its end.
    private static func drain(_ pipe: Int32, _ take: (UnsafeRawBufferPointer) -> Bool) -> Bool {
        withUnsafeTemporaryAllocation(byteCount: 1 << 16, alignment: 1) { space in
            while true {
                let count = read(pipe, space.baseAddress, space.count)
                if count < 0 { return errno == EAGAIN || errno == EINTR }
                if count == 0 || !take(UnsafeRawBufferPointer(rebasing: space[..<count])) { return count != 0 }
            }
        }
    }
}
