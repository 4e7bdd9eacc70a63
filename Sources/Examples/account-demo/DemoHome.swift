internal import FoundationEssentials
internal import Glibc

/// A fresh, private directory in which the group's container, vault and keys are born.
struct DemoHome {
    static let group = "group.com.example.account"

    let path: String

    /// - Throws: `Stop` `.unavailable`.
    static func make() throws(Stop) -> DemoHome {
        let temporary = ProcessInfo.processInfo.environment["TMPDIR"] ?? ""
        // The groups' home has to be absolute, whatever TMPDIR is.
        let parent = temporary.hasPrefix("/") ? temporary : "/tmp"
        var template = Array("\(parent)/account-demo.XXXXXX".utf8CString)
        guard template.withUnsafeMutableBufferPointer({ $0.baseAddress.flatMap { mkdtemp($0) } }) != nil else {
            throw .unavailable("no temporary directory can be made in \(parent): \(String(cString: strerror(errno)))")
        }
        return DemoHome(path: String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self))
    }

    /// Where the programs of the demo look for groups.
    var environment: [String: String] { ["SEALED_GROUPS_HOME": path, "ACCOUNT_WRITER_KEY": writerKey] }

    /// The directory of what only the app may read.
    var appOnly: String { "\(path)/app-only" }
    /// The key by which the app signs.
    var writerKey: String { "\(appOnly)/app.writer" }
    /// What opens the vault: every program of the group has it.
    var keyFile: String { "\(path)/Keys/\(Self.group).key" }

    var container: String { "\(path)/Containers/\(Self.group)" }

    /// Gives the container another name, or its own again.
    func moveContainer(away: Bool) throws(Stop) {
        let other = "\(path)/elsewhere"
        guard rename(away ? container : other, away ? other : container) == 0 else {
            throw .broken("\(container) cannot be moved")
        }
    }

    func remove() { try? FileManager.default.removeItem(atPath: path) }

    func keep() {
        print("\nThe home stays. Have a look:")
        print("  SEALED_GROUPS_HOME=\(path) sealctl audit --group \(Self.group)")
    }
}

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
