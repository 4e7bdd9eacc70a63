internal import CryptoPrimitives
internal import Glibc
internal import SharedFiles

/// The three streams that every program is born with.
enum StandardStreams {
    /// Makes them safe to use.
    ///
    /// A stream that was closed by whoever started us would otherwise be the number of the next file that is opened, and
    /// messages would be written into it. A closed pipe is an error of the write, not a signal.
    static func prepare() {
        _ = signal(SIGPIPE, SIG_IGN)
        // A file size limit as well: what was written so far is thrown away in order.
        _ = signal(SIGXFSZ, SIG_IGN)
        for number in Int32(0)...2 where fcntl(number, F_GETFD) < 0 {
            // Opened the wrong way round on purpose: using it fails, as it would have.
            _ = open("/dev/null", number == 0 ? O_WRONLY : O_RDONLY)
        }
    }

    /// Writes a line to standard error; there is nobody to tell when that fails.
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
