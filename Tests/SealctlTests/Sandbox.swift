import Glibc
import TestSupport
import Testing

/// A separate home for one test: groups, HOME and a directory for files. It is removed at the end.
final class Sandbox: Sendable {
    static let group = "group.com.example.app"

    let directory: TemporaryDirectory
    let environment: [String: String]

    init(onDisk: Bool = false) throws {
        directory = try TemporaryDirectory(onDisk: onDisk)
        environment = [
            "SEALED_GROUPS_HOME": directory.path + "/groups", "HOME": directory.path + "/home",
            "SEALCTL_GROUP": Self.group, "SWIFT_BACKTRACE": "enable=no",
            // The environment of the tests may contain these variables.
            "XDG_CONFIG_HOME": "", "SEALCTL_CONFIG": "", "NO_COLOR": "",
        ]
        try directory.directory("home")
        try directory.directory("files")
    }

    /// One with a group whose vault opens with its key file.
    static func initialised(onDisk: Bool = false) throws -> Sandbox {
        let sandbox = try Sandbox(onDisk: onDisk)
        try sandbox.succeed(["init"])
        return sandbox
    }

    func sealctl(_ arguments: [String], input: [UInt8] = [], group: String? = nil) throws -> ChildResult {
        try ChildProcess.run(
            "sealctl", arguments, environment: environment(group: group), directory: path("files"), input: input)
    }

    func start(_ arguments: [String]) throws -> ChildProcess {
        try ChildProcess("sealctl", arguments, environment: environment, directory: path("files"))
    }

    /// Runs a shell script in which `$S` is sealctl.
    @discardableResult
    func shell(_ script: String, input: [UInt8] = []) throws -> ChildResult {
        let variables = environment.merging(["S": builtProduct("sealctl")]) { $1 }
        return try ChildProcess.run(
            "/bin/sh", ["-c", script], environment: variables, directory: path("files"), input: input)
    }

    @discardableResult
    func succeed(_ arguments: [String], input: [UInt8] = []) throws -> ChildResult {
        let result = try sealctl(arguments, input: input)
        guard result.exitCode == 0 else { throw Unexpected(result) }
        return result
    }

    func put(_ name: String, _ json: String, _ options: [String] = []) throws {
        try succeed(["put", name, "-"] + options, input: Array(json.utf8))
    }

    func path(_ relative: String) -> String { directory.path(relative) }

    var container: String { path("groups/Containers/\(Self.group)") }
    var vault: String { path("groups/Vaults/\(Self.group)/vault") }
    var keyFile: String { path("groups/Keys/\(Self.group).key") }
    func record(_ name: String) -> String { "\(container)/Library/Application Support/Records/\(name).sealed" }

    /// Creates a file in the test's working directory.
    @discardableResult
    func file(_ name: String, _ bytes: [UInt8]) throws -> String {
        try SystemFile.write(path("files/\(name)"), bytes)
        return path("files/\(name)")
    }

    /// Moves the group's container away.
    func moveContainerAway() throws {
        #expect(rename(container, path("container")) == 0)
    }

    /// Returns the names in the test's working directory.
    func files() throws -> [String] { try SystemFile.names(path("files")) }

    /// Changes one byte of a file.
    func flip(_ path: String, at offset: Int) throws {
        var bytes = try SystemFile.read(path)
        bytes[offset] ^= 1
        try SystemFile.write(path, bytes)
    }

    private func environment(group: String?) -> [String: String] {
        group.map { environment.merging(["SEALCTL_GROUP": $0]) { $1 } } ?? environment
    }
}

/// The failure of a command that a test relies on.
struct Unexpected: Error, CustomStringConvertible {
    let description: String
    init(_ result: ChildResult) { description = "status \(result.exitCode): \(result.errorText)" }
}

/// Returns bytes that are not text and do not repeat a block.
func noise(_ count: Int) -> [UInt8] {
    var state: UInt64 = 0x9E37_79B9_7F4A_7C15
    return (0..<count).map { _ in
        state ^= state << 13
        state ^= state >> 7
        state ^= state << 17
        return UInt8(truncatingIfNeeded: state >> 32)
    }
}
