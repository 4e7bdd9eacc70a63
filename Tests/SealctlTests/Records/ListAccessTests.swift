import Glibc
import TestSupport
import Testing

/// Tests of lists in a container with a directory that this user may not read.
@Suite(.enabled(if: ChildProcess.canRunUnprivileged, "setpriv")) struct ListAccessTests {
    private static let records = "Library/Application Support/Records"

    /// Returns a container with records and files, and with directories of which the ordinary user that runs the list may
    /// read none.
    private func sandbox(_ directories: [String]) throws -> Sandbox {
        let sandbox = try Sandbox.initialised()
        for name in ["a", "z", "sub/b"] { try sandbox.put(name, "{}") }
        for name in ["f", "sub/g"] { try sandbox.shell("printf x | $S file put \(name) -") }
        for directory in directories { #expect(mkdir("\(sandbox.container)/\(directory)", 0o700) == 0) }
        if geteuid() == 0 { try sandbox.shell("chown -R 65534:65534 '\(sandbox.directory.path)'") }
        for directory in directories { chmod("\(sandbox.container)/\(directory)", 0) }
        return sandbox
    }

    private func list(_ sandbox: Sandbox, _ words: [String]) throws -> ChildResult {
        try ChildProcess.runUnprivileged("sealctl", words, environment: sandbox.environment)
    }

    private func names(_ result: ChildResult) -> [String] {
        result.outputText.split(separator: "\n").dropFirst().compactMap { line in
            line.split(separator: " ").first.map(String.init)
        }
    }

    @Test func theOtherRecordsAndFilesAreListed() throws {
        let sandbox = try sandbox(["\(Self.records)/closed", "\(Self.records)/sub/closed", "Files/closed"])
        let records = try list(sandbox, ["list"])
        #expect(names(records) == ["a", "sub/b", "z"] && records.exitCode == 77)
        #expect(records.errorText.contains("Records/closed") && records.errorText.contains("2 more"))
        let files = try list(sandbox, ["file", "list", "--json"])
        #expect(files.outputText.contains(#""name":"f""#) && files.outputText.contains(#""name":"sub/g""#))
        #expect(files.exitCode == 77 && files.errorText.contains(#""code":"permissionDenied""#))
        try sandbox.shell("chmod -R u+rwX '\(sandbox.directory.path)'")
    }

    @Test func aWholeListIsASuccess() throws {
        let sandbox = try sandbox([])
        let records = try list(sandbox, ["list"])
        #expect(names(records) == ["a", "sub/b", "z"] && records.exitCode == 0 && records.errorText.isEmpty)
    }

    /// The directory of all records is not passed over.
    @Test func noListIsMadeOfAClosedContainer() throws {
        let sandbox = try sandbox([])
        chmod("\(sandbox.container)/\(Self.records)", 0)
        let records = try list(sandbox, ["list"])
        #expect(records.output.isEmpty && records.exitCode == 77)
        chmod("\(sandbox.container)/\(Self.records)", 0o700)
    }
}
