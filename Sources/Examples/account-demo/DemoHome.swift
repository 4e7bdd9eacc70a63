internal import FoundationEssentials
internal import Glibc

/// A new, private directory for the group's container, vault and keys.
struct DemoHome {
    static let group = "group.com.example.account"

    let path: String

    /// - Throws: `Stop` `.unavailable`.
    static func make() throws(Stop) -> DemoHome {
        let temporary = ProcessInfo.processInfo.environment["TMPDIR"] ?? ""
        // The groups' home has to be absolute, even if TMPDIR is not.
        let parent = temporary.hasPrefix("/") ? temporary : "/tmp"
        var template = Array("\(parent)/account-demo.XXXXXX".utf8CString)
        guard template.withUnsafeMutableBufferPointer({ $0.baseAddress.flatMap { mkdtemp($0) } }) != nil else {
            throw .unavailable(
                "no temporary directory can be created in \(parent): \(String(cString: strerror(errno)))")
        }
        return DemoHome(path: String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self))
    }

    /// The variables that direct the demo's programs to this home.
    var environment: [String: String] { ["SEALED_GROUPS_HOME": path, "ACCOUNT_WRITER_KEY": writerKey] }

    /// The directory that only the app may read.
    var appOnly: String { "\(path)/app-only" }
    /// The app's signing key.
    var writerKey: String { "\(appOnly)/app.writer" }
    /// The file that opens the vault; every program of the group has it.
    var keyFile: String { "\(path)/Keys/\(Self.group).key" }

    var container: String { "\(path)/Containers/\(Self.group)" }

    /// Renames the container, or restores its name.
    func moveContainer(away: Bool) throws(Stop) {
        let other = "\(path)/elsewhere"
        guard rename(away ? container : other, away ? other : container) == 0 else {
            throw .broken("\(container) cannot be moved")
        }
    }

    func remove() { try? FileManager.default.removeItem(atPath: path) }

    func keep() {
        print("\nThe home is kept. To audit it:")
        print("  SEALED_GROUPS_HOME=\(path) sealctl audit --group \(Self.group)")
    }
}

/// The paths of the demo's programs.
struct Programs {
    let app: String
    let widget: String
    let share: String
    let helper: String
    let sealctl: String

    /// Searches `SEALED_DEMO_BIN`, else this program's directory.
    ///
    /// - Throws: `Stop` `.unavailable`, with the missing program.
    static func find() throws(Stop) -> Programs {
        let named = ProcessInfo.processInfo.environment["SEALED_DEMO_BIN"] ?? ""
        guard let directory = named.isEmpty ? ownDirectory() : named else {
            throw .unavailable("set SEALED_DEMO_BIN to the directory of the programs")
        }
        return Programs(
            app: try program("account-app", in: directory), widget: try program("account-widget", in: directory),
            share: try program("account-share", in: directory), helper: try program("account-helper", in: directory),
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
