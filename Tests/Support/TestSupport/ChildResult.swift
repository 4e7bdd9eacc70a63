internal import Glibc

/// How a child process ended.
package enum ChildStatus: Sendable, Hashable {
    /// It exited with this status.
    case exited(Int32)
    /// A signal ended it.
    case signalled(Int32)

    init(waitStatus: Int32) {
        let signal = waitStatus & 0x7F
        self = signal == 0 ? .exited((waitStatus >> 8) & 0xFF) : .signalled(signal)
    }
}

/// What a finished child process left.
package struct ChildResult: Sendable {
    /// How it ended.
    package let status: ChildStatus
    /// Everything it wrote to standard output and was not read before.
    package let output: [UInt8]
    /// Everything it wrote to standard error.
    package let errors: [UInt8]

    /// The exit status, or 128 and the signal's number as a shell would say.
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
