internal import Glibc

extension ChildProcess {
    /// Whether `runUnprivileged` works here.
    package static var canRunUnprivileged: Bool {
        geteuid() != 0 || access(setpriv, X_OK) == 0
    }

    /// Runs an executable as a user without any rights; where the tests are run by an ordinary user, as that one.
    ///
    /// What it is to reach must be opened to others first: a temporary directory is the tests' own.
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
