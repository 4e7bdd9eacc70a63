import Glibc
import TestSupport

/// Functions of the C library that replace the real ones in a child, compiled for the run of the tests.
///
/// A write takes at most `SEALED_WRITE` bytes; the wall clock is `SEALED_CLOCK` seconds ahead.
enum Interposer {
    private static let source = """
        #define _GNU_SOURCE
        #include <stdlib.h>
        #include <sys/syscall.h>
        #include <time.h>
        #include <unistd.h>
        ssize_t write(int file, const void *bytes, size_t count) {
            const char *limit = getenv("SEALED_WRITE");
            if (limit && file > 2 && count > (size_t)atol(limit)) count = (size_t)atol(limit);
            return syscall(SYS_write, file, bytes, count);
        }
        int clock_gettime(clockid_t clock, struct timespec *time) {
            const char *ahead = getenv("SEALED_CLOCK");
            int result = (int)syscall(SYS_clock_gettime, clock, time);
            if (result == 0 && ahead && clock == CLOCK_REALTIME) time->tv_sec += atol(ahead);
            return result;
        }
        """

    private static let compilers = ["/usr/bin/cc", "/usr/bin/gcc", "/usr/bin/clang"]

    /// Lives as long as the tests.
    private static let library: (directory: TemporaryDirectory, path: String)? = {
        guard let compiler = compilers.first(where: { access($0, X_OK) == 0 }),
            let directory = try? TemporaryDirectory()
        else { return nil }
        let path = directory.path("interposer.so")
        let words = ["-shared", "-fPIC", "-O1", "-x", "c", "-o", path, "-"]
        let result = try? ChildProcess.run(compiler, words, input: Array(source.utf8))
        return result?.exitCode == 0 ? (directory, path) : nil
    }()

    /// `false` if there is no C compiler.
    static var isPossible: Bool { library != nil }

    /// Returns the environment that starts a child with these functions.
    static func variables(_ changes: [String: String]) -> [String: String] {
        changes.merging(["LD_PRELOAD": library?.path ?? ""]) { first, _ in first }
    }
}
