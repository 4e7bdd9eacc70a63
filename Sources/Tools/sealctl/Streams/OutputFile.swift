internal import CryptoPrimitives
internal import Glibc
internal import SharedFiles
internal import Synchronization
internal import SystemPackage

/// The target of a command's output: a file that appears whole at the end or not at all, or a stream.
final class OutputFile: Sendable {
    private enum Place: ~Copyable {
        case new(NewFile)
        case stream(Descriptor)
        case finished
    }

    private let place: Mutex<Place>
    private let isReplacing: Bool
    /// True if written bytes cannot be withdrawn: the target is a pipe, a terminal or a device.
    let isStream: Bool
    /// True for a terminal for which binary data was not explicitly requested.
    let isGuardedTerminal: Bool

    /// - Parameters:
    ///   - argument: A path; `nil` or `-` is standard output.
    ///   - mode: Permission bits of a new file.
    ///   - replacing: `false` refuses an existing name, at the latest in `commit()`.
    init(_ argument: String?, mode: UInt32, replacing: Bool = true) throws(Failure) {
        isReplacing = replacing
        guard let argument, argument != "-" else {
            isStream = true
            isGuardedTerminal = argument == nil && StandardStreams.outputIsTerminal
            place = Mutex(.stream(Descriptor.standardOutput))
            return
        }
        isGuardedTerminal = false
        guard !Self.isDanglingLink(argument) else {
            throw Failure(
                .cannotCreate, "danglingLink", "cannot write \(argument): it is a link without a target",
                hint: "Remove the link, or create its target.")
        }
        do throws(FileError) {
            if let device = try Self.openDevice(argument) {
                isStream = true
                place = Mutex(.stream(device))
            } else {
                isStream = false
                place = Mutex(.new(try Self.newFile(argument, mode)))
            }
        } catch { throw Failure(error, .output) }
    }

    func write(_ bytes: UnsafeRawBufferPointer) throws(FileError) {
        let result = place.withLock { place -> Result<Void, FileError> in
            do throws(FileError) {
                switch place {
                case .new(let file): try file.write(bytes)
                case .stream(let descriptor): try descriptor.write(bytes)
                case .finished: break
                }
                return .success(())
            } catch { return .failure(error) }
        }
        try result.get()
    }

    /// Gives the file its name and replaces an existing file. Without this call no file remains.
    func commit() throws(Failure) {
        let result = place.withLock { place -> Result<Void, FileError> in
            var last = Place.finished
            swap(&place, &last)
            return Self.finish(last, replacing: isReplacing)
        }
        do throws(FileError) { try result.get() } catch { throw Failure(error, .output) }
    }

    private static func finish(_ place: consuming Place, replacing: Bool) -> Result<Void, FileError> {
        do throws(FileError) {
            switch consume place {
            case .new(let file): try file.commit(replacing: replacing, durability: .durable)
            case .stream(let descriptor): try descriptor.close()
            case .finished: break
            }
            return .success(())
        } catch { return .failure(error) }
    }

    /// Opens a pipe or device for writing. It is never replaced: `-o /dev/null` must not remove the device.
    private static func openDevice(_ path: String) throws(FileError) -> Descriptor? {
        var status = stat()
        guard stat(path, &status) == 0 else { return nil }
        switch status.st_mode & S_IFMT {
        case S_IFREG: return nil
        case S_IFDIR:
            throw FileError(errno: EISDIR, operation: "write", path: path)
        default:
            return try Descriptor.openForWriting(device: path)
        }
    }

    /// Returns `true` for a link without a target. It is not replaced, which would remove the link, and not followed to
    /// an unseen place.
    private static func isDanglingLink(_ path: String) -> Bool {
        var status = stat()
        guard lstat(path, &status) == 0, status.st_mode & S_IFMT == S_IFLNK else { return false }
        return stat(path, &status) < 0 && (errno == ENOENT || errno == ELOOP)
    }

    /// Creates the new file. Links are followed, as usual, so that a link remains one and its target gets the new
    /// value.
    private static func newFile(_ argument: String, _ mode: UInt32) throws(FileError) -> NewFile {
        let path = FilePath(real(argument) ?? argument)
        guard let leaf = path.lastComponent, leaf.kind == .regular, !argument.hasSuffix("/") else {
            throw FileError(.invalidName, operation: "write", path: argument)
        }
        let above = path.removingLastComponent()
        let parent = above.isEmpty ? "." : above.string
        let directory = try Directory.open(real(parent) ?? parent)
        return try NewFile.create(in: directory, leaf: leaf.string, mode: mode)
    }

    /// Returns the path without links, or `nil` if it does not exist.
    private static func real(_ path: String) -> String? {
        guard let resolved = realpath(path, nil) else { return nil }
        defer { free(resolved) }
        return String(cString: resolved)
    }

    /// Refuses to write a file's sealed or opened form into the file itself, which would grow without end.
    func requireOther(than input: InputFile) throws(Failure) {
        let own = place.withLock { place -> FileAttributes? in
            switch place {
            case .stream(let descriptor): try? descriptor.attributes()
            default: nil
            }
        }
        guard let own, own.kind == .regular, own.isSameFile(as: input.attributes) else { return }
        throw Failure(
            .usage, "sameFile", "standard output is the input file", hint: "Try -o with the same path: it is safe.")
    }
}

/// Returns the permission bits of an ordinary new file.
func ordinaryFileMode() -> UInt32 {
    let mask = umask(0o077)
    umask(mask)
    return 0o666 & ~mask
}

/// The three standard streams of the process.
enum StandardStreams {
    /// Makes the streams safe to use.
    ///
    /// If the parent process closed a stream, the next opened file would get its number, and messages would be written
    /// into that file. A closed pipe is an error of the write, not a signal.
    static func prepare() {
        _ = signal(SIGPIPE, SIG_IGN)
        // A file size limit is an error as well, so that the partial output is removed properly.
        _ = signal(SIGXFSZ, SIG_IGN)
        for number in Int32(0)...2 where fcntl(number, F_GETFD) < 0 {
            // The stream is opened in the wrong direction on purpose, so that its use fails as before.
            _ = open("/dev/null", number == 0 ? O_WRONLY : O_RDONLY)
        }
    }

    /// Writes a line to standard error. A failure cannot be reported and is ignored.
    static func say(_ line: String) {
        let bytes = Array((line + "\n").utf8)
        _ = bytes.withUnsafeBytes { Glibc.write(2, $0.baseAddress, $0.count) }
    }

    /// Writes a result to standard output.
    static func print(_ text: String) throws(Failure) {
        let bytes = Array((text + "\n").utf8)
        try Failure.onFiles(.output) { () throws(FileError) in
            try bytes.withRawBytes { bytes throws(FileError) in try Descriptor.standardOutput.write(bytes) }
        }
    }

    static var outputIsTerminal: Bool { isatty(1) == 1 }
    static var errorsAreTerminal: Bool { isatty(2) == 1 }
}
