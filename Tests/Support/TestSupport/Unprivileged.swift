internal import Glibc

extension ChildProcess {
    /// True if `runUnprivileged` works on this machine.
    package static var canRunUnprivileged: Bool {
        geteuid() != 0 || access(setpriv, X_OK) == 0
    }

    /// Runs an executable as a user without any rights, or as the present user if that is an ordinary user.
    ///
    /// Files that it accesses must be opened to other users first, because a temporary directory is private.
    package static func runUnprivileged(
        _ executable: String, _ arguments: [String] = [], environment: [String: String] = [:], input: [UInt8] = []
    ) throws -> ChildResult {
        let path = executable.contains("/") ? executable : builtProduct(executable)
        if geteuid() != 0 { return try run(path, arguments, environment: environment, input: input) }
        let words = ["--reuid=65534", "--regid=65534", "--clear-groups", path] + arguments
        return try run(setpriv, words, environment: environment, input: input)
    }

    private static let setpriv = "/usr/bin/setpriv"
}
