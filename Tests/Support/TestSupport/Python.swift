internal import Glibc

/// The python3 that tests run: the system's, or else the first one in `PATH`.
///
/// `.ci/bootstrap test` installs it. If it is missing, a test that needs it fails and is not skipped.
package enum Python {
    /// The path of the program. A test that starts a missing program fails.
    package static let path: String = candidates.first ?? system

    /// The path of a python3 with the package `jsonschema`, or `path` if none has it.
    package static let pathWithSchemas: String =
        candidates.first { candidate in
            let program = "import jsonschema; jsonschema.Draft202012Validator"
            return (try? ChildProcess.run(candidate, ["-W", "ignore", "-c", program]))?.exitCode == 0
        } ?? path

    private static let system = "/usr/bin/python3"

    private static let candidates: [String] = {
        let folders = (environmentVariable("PATH") ?? "").split(separator: ":")
        return ([system] + folders.map { "\($0)/python3" }).filter { access($0, X_OK) == 0 }
    }()
}
