internal import Glibc

/// The python3 that tests run: the system's, else the first one of `PATH`.
///
/// `.ci/bootstrap test` installs it. Where it is missing, a test that needs it fails, and is not passed over.
package enum Python {
    /// Its path; a test that starts what is not there fails.
    package static let path: String = candidates.first ?? system

    /// The path of one that has the package `jsonschema`; the same as `path` where none has it.
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
