internal import Glibc

/// How a process ended, from its wait status.
struct ExitStatus: CustomStringConvertible {
    private let status: Int32

    init(_ status: Int32) { self.status = status }

    private var signal: Int32 { status & 0x7F }

    /// Its exit status; 128 and the signal for one that was killed, as shells have it.
    var code: Int32 { signal == 0 ? (status >> 8) & 0xFF : 128 + signal }

    var description: String {
        signal == 0 ? "exit status \(code)" : "signal \(signal) (\(String(cString: strsignal(signal))))"
    }
}
