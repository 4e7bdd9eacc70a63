import Glibc
import Synchronization

/// Ctrl-C ends the measuring, not the program: what it has put on the disk and into memory is removed first.
enum Interruption {
    private static let isAsked = Atomic(false)

    /// Takes over SIGINT and SIGTERM.
    static func watch() {
        // Made here: a signal handler must not be the first to touch it.
        isAsked.store(false, ordering: .relaxed)
        for number in [SIGINT, SIGTERM] {
            signal(number) { _ in Interruption.isAsked.store(true, ordering: .relaxed) }
        }
    }

    /// - Throws: `BenchmarkFailure` once somebody has asked to stop.
    static func check() throws {
        if isAsked.load(ordering: .relaxed) { throw BenchmarkFailure("interrupted") }
    }
}
