internal import Glibc

/// Prints a line immediately, even into a pipe, and while another thread waits for input.
public func printLine(_ line: String) {
    var rest = Array((line + "\n").utf8)[...]
    while !rest.isEmpty {
        let count = rest.withUnsafeBytes { write(STDOUT_FILENO, $0.baseAddress, $0.count) }
        if count < 0 && errno != EINTR { return }
        rest = rest.dropFirst(max(0, count))
    }
}
