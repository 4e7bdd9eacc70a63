import AppGroups
import Glibc
import TestSupport
import Testing

/// Tests that a program that aborts with an open vault and a borrowed value leaves a core file without any secret.
@Suite(.timeLimit(.minutes(10))) struct CoreFileFaultTests {
    /// True if a crashed program leaves a core file in its working directory (core(5)).
    static let canDump: Bool = {
        guard let pattern = try? SystemFile.read("/proc/sys/kernel/core_pattern") else { return false }
        var limit = rlimit()
        getrlimit(__rlimit_resource_t(RLIMIT_CORE.rawValue), &limit)
        return pattern.starts(with: Array("core".utf8)) && limit.rlim_max == rlim_t.max
    }()

    private static let account = "an-account-that-is-no-secret"

    @Test(
        .enabled(if: canDump, "core files are not made here, or elsewhere"),
        arguments: ["passphrase", "identity", "key-file"])
    func aCoreFileHoldsNoSecret(_ kind: String) throws {
        var sandbox = try CanarySandbox()
        let vault = try sandbox.makeVault()
        try vault.add("canary-service", Self.account, sandbox.value)
        let files = [
            "passphrase": sandbox.passphraseFile, "identity": sandbox.identityFile, "key-file": sandbox.fixture.keyFile,
        ]
        let directory = try sandbox.fixture.directory.directory("core")
        let child = try ChildProcess(
            "sealed-probe",
            [
                "vault-abort", sandbox.fixture.directory.path, sandbox.fixture.group.identifier, kind,
                files[kind] ?? "",
                "canary-service", Self.account, directory,
            ], environment: ["SWIFT_BACKTRACE": "enable=no"])
        #expect(try child.readLine() == "ready \(sandbox.value.count)")
        for entry in ["environ", "cmdline"] {
            let bytes = try SystemFile.read("/proc/\(child.pid)/\(entry)")
            #expect(!bytes.isEmpty && sandbox.search.found(in: bytes) == [], "\(entry)")
        }
        let result = try child.finish(input: Array("die\n".utf8))
        #expect(result.status == .signalled(SIGABRT))
        #expect(sandbox.search.found(in: result.output + result.errors) == [])

        let name = try #require(try SystemFile.names(directory).first { $0.hasPrefix("core") }, "no core file")
        let core = try SystemFile.read("\(directory)/\(name)")
        // The control shows that the file contains the program's memory.
        var control = SecretSearch()
        control.add("account", Array(Self.account.utf8))
        #expect(!control.found(in: core).isEmpty)
        #expect(sandbox.search.found(in: core) == [])
    }
}
