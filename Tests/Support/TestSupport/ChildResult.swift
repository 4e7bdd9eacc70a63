internal import Glibc

/// The way in which a child process ended.
package enum ChildStatus: Sendable, Hashable {
    /// The process exited with this status.
    case exited(Int32)
    /// A signal ended the process.
    case signalled(Int32)

    init(waitStatus: Int32) {
        let signal = waitStatus & 0x7F
        self = signal == 0 ? .exited((waitStatus >> 8) & 0xFF) : .signalled(signal)
    }
}

/// The results of a finished child process.
package struct ChildResult: Sendable {
    /// The way in which the process ended.
    package let status: ChildStatus
    /// The unread rest of standard output.
    package let output: [UInt8]
    /// All of standard error.
    package let errors: [UInt8]

    /// The exit status, or the signal's number plus 128, as in a shell.
    package var exitCode: Int32 {
        switch status {
        case .exited(let code): code
        case .signalled(let number): 128 + number
        }
    }
    /// Standard output as text.
    package var outputText: String { String(decoding: output, as: UTF8.self) }
    /// Standard error as text.
    package var errorText: String { String(decoding: errors, as: UTF8.self) }
}
