internal import FoundationEssentials
internal import Glibc

/// Where the programs of the demo lie.
struct Programs {
    let app: String
    let widget: String
    let sealctl: String

    /// Looks in `SEALED_DEMO_BIN`, else beside this program.
    ///
    /// - Throws: `Stop` `.unavailable`, naming what is missing.
    static func find() throws(Stop) -> Programs {
        let named = ProcessInfo.processInfo.environment["SEALED_DEMO_BIN"] ?? ""
        guard let directory = named.isEmpty ? ownDirectory() : named else {
            throw .unavailable("set SEALED_DEMO_BIN to the directory of the programs")
        }
        return Programs(
            app: try program("account-app", in: directory), widget: try program("account-widget", in: directory),
            sealctl: try program("sealctl", in: directory))
    }

    private static func program(_ name: String, in directory: String) throws(Stop) -> String {
        let path = "\(directory)/\(name)"
        guard access(path, X_OK) == 0 else {
            throw .unavailable("\(path) is missing: build it with swift build, or set SEALED_DEMO_BIN")
        }
        return path
    }

    private static func ownDirectory() -> String? {
        let path = try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
        guard let path, let slash = path.lastIndex(of: "/") else { return nil }
        return String(path[..<slash])
    }
}
