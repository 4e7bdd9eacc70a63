import Glibc
import TestSupport
import Testing

/// A mistake of a user, and the expected exit status.
struct Mistake: Sendable, CustomTestStringConvertible {
    let what: String
    let arguments: [String]
    let status: Int32
    var input = "{}"
    var prepare: @Sendable (Sandbox) throws -> Void = { _ in }

    var testDescription: String { "\(what): \(status)" }

    static let usage = [
        Mistake(what: "an unknown option", arguments: ["list", "--frobnicate"], status: 64),
        Mistake(what: "an unknown command", arguments: ["frobnicate"], status: 64),
        Mistake(what: "a missing argument", arguments: ["put", "a"], status: 64),
        Mistake(what: "a group without prefix", arguments: ["list", "--group", "com.example"], status: 64),
        Mistake(what: "a group with a path in it", arguments: ["list", "--group", "group.a/../b"], status: 64),
        Mistake(what: "a record name that climbs", arguments: ["put", "../a", "-"], status: 64),
        Mistake(what: "an empty record name", arguments: ["get", ""], status: 64),
        Mistake(what: "a time without unit", arguments: ["put", "a", "-", "--expires-in", "10"], status: 64),
        Mistake(what: "a time of nothing", arguments: ["put", "a", "-", "--expires-in", "0h"], status: 64),
        Mistake(
            what: "a time beyond all time", arguments: ["put", "a", "-", "--expires-in", "99999999999999w"], status: 64),
        Mistake(what: "schema version 0", arguments: ["put", "a", "-", "--schema-version", "0"], status: 64),
        Mistake(what: "schema version -1", arguments: ["put", "a", "-", "--schema-version", "-1"], status: 64),
        Mistake(what: "two credentials", arguments: ["list", "--passphrase", "--key-file", "k"], status: 64),
        Mistake(
            what: "an audit of a path and a group", arguments: ["audit", "--group", Sandbox.group, "/tmp"], status: 64),
        Mistake(what: "an empty passphrase", arguments: ["list", "--passphrase-file", "-"], status: 64, input: "\n"),
        Mistake(
            what: "an empty passphrase file", arguments: ["list", "--passphrase-file", "/dev/null"], status: 64),
    ]

    static let files = [
        Mistake(what: "a missing file", arguments: ["put", "a", "missing.json"], status: 66),
        Mistake(what: "a directory to put", arguments: ["put", "a", "/tmp"], status: 66),
        Mistake(what: "a missing file to seal", arguments: ["encrypt", "-o", "out", "missing"], status: 66),
        Mistake(what: "a directory to seal", arguments: ["encrypt", "-o", "out", "."], status: 66),
        Mistake(what: "a missing file to open", arguments: ["decrypt", "missing"], status: 66),
        Mistake(what: "a missing file to inspect", arguments: ["inspect", "./missing"], status: 66),
        Mistake(what: "a missing passphrase file", arguments: ["list", "--passphrase-file", "missing"], status: 66),
        Mistake(what: "a missing directory to audit", arguments: ["audit", "missing"], status: 66),
        Mistake(what: "an output in a missing directory", arguments: ["encrypt", "-o", "missing/out"], status: 73),
        Mistake(what: "a directory as output", arguments: ["encrypt", "-o", "."], status: 73),
        Mistake(what: "an output that ends with a slash", arguments: ["encrypt", "-o", "out/"], status: 73),
        Mistake(what: "a link to nothing as output", arguments: ["encrypt", "-o", "link"], status: 73) {
            try $0.directory.link("files/link", to: "nothing")
        },
        Mistake(what: "a full device", arguments: ["encrypt", "-o", "/dev/full"], status: 74),
    ]

    static let state =
        [
            Mistake(what: "an unknown record", arguments: ["get", "a"], status: 44),
            Mistake(what: "deleting an unknown record", arguments: ["delete", "a"], status: 44),
            Mistake(what: "inspecting an unknown record", arguments: ["inspect", "a"], status: 44),
            Mistake(what: "a group without container", arguments: ["list", "--group", "group.other"], status: 44),
            Mistake(
                what: "sealing for a group without vault", arguments: ["encrypt", "--group", "group.other", "-o", "o"],
                status: 44),
            Mistake(
                what: "an audit of a group without container", arguments: ["audit", "--group", "group.other"],
                status: 44),
            Mistake(what: "making a vault twice", arguments: ["vault", "create"], status: 45),
            Mistake(what: "a key file that is gone", arguments: ["list"], status: 36) { unlink($0.keyFile) },
            Mistake(
                what: "a stated key file that is missing", arguments: ["list", "--key-file", "missing"], status: 36),
            Mistake(
                what: "a passphrase where there is no slot for one", arguments: ["list", "--passphrase-file", "-"],
                status: 51),
            Mistake(
                what: "another group's key file", arguments: ["list", "--key-file", "../groups/Keys/group.other.key"],
                status: 51
            ) {
                try $0.succeed(["init", "--group", "group.other"])
            },
            Mistake(what: "an invalid key file", arguments: ["list", "--key-file", "k"], status: 65) {
                try $0.file("k", Array("hello".utf8))
            },
            Mistake(what: "a damaged vault", arguments: ["list"], status: 65) { try $0.flip($0.vault, at: 9) },
            Mistake(what: "a vault that others may read", arguments: ["list"], status: 78) { chmod($0.vault, 0o604) },
            Mistake(what: "a container that others may write", arguments: ["list"], status: 78) {
                chmod($0.container, 0o777)
            },
            Mistake(what: "making a vault over a damaged one", arguments: ["init"], status: 65) {
                try $0.flip($0.vault, at: 9)
            },
        ] + lostVault + misplaced

    private static let uses = [["init"], ["get", "a"], ["put", "a", "-"], ["list"], ["encrypt", "-o", "out"]]

    /// A user who has opened the vault gets "missing". For a user who has never opened it, it does not exist.
    static let lostVault = uses.flatMap { words in
        ([(44, "true"), (78, "rm -r ../groups/Places")] as [(Int32, String)]).map { status, forget in
            Mistake(what: "a lost vault beside sealed records, \(words[0])", arguments: words, status: status) {
                try $0.put("a", "{}")
                unlink($0.vault)
                try $0.shell(forget)
            }
        }
    }

    /// Files of another kind in the place of a vault or of a record.
    static let misplaced = Planted.allCases.flatMap { planted in
        [["get", "a"], ["list"], ["init"], ["encrypt", "-o", "out"]].map {
            Mistake(what: "a \(planted) as vault, \($0[0])", arguments: $0, status: 78) { try planted.plant($0.vault) }
        }
            + ["get", "inspect"].map {
                Mistake(what: "a \(planted) as record, \($0)", arguments: [$0, "a"], status: 65) {
                    try $0.put("a", "{}")
                    try planted.plant($0.record("a"))
                }
            }
    }
}

/// The kinds of files that may be in the place of a regular file.
enum Planted: String, CaseIterable, Sendable {
    case fifo, directory, link

    func plant(_ path: String) throws {
        unlink(path)
        switch self {
        case .fifo: #expect(mkfifo(path, 0o600) == 0)
        case .directory: #expect(mkdir(path, 0o700) == 0)
        case .link: #expect(symlink("/etc/passwd", path) == 0)
        }
    }
}

extension Mistake {
    init(
        what: String, arguments: [String], status: Int32, prepare: @escaping @Sendable (Sandbox) throws -> Void
    ) {
        self.init(what: what, arguments: arguments, status: status, input: "{}", prepare: prepare)
    }
}

@Suite struct StatusTests {
    @Test(arguments: Mistake.usage + Mistake.files + Mistake.state)
    func aMistakeEndsWithItsOwnStatusAndOneSentence(mistake: Mistake) throws {
        let sandbox = try Sandbox.initialised()
        try mistake.prepare(sandbox)
        let before = try sandbox.files()
        let result = try sandbox.sealctl(mistake.arguments, input: Array(mistake.input.utf8))
        #expect(result.exitCode == mistake.status, "\(result.errorText)")
        #expect(result.output.isEmpty)
        #expect(result.errorText.hasPrefix("sealctl: "))
        #expect(try sandbox.files() == before)
    }

    @Test(arguments: Mistake.usage + Mistake.files + Mistake.state)
    func withJSONTheErrorIsAnObject(mistake: Mistake) throws {
        let sandbox = try Sandbox.initialised()
        try mistake.prepare(sandbox)
        let result = try sandbox.sealctl(mistake.arguments + ["--json"], input: Array(mistake.input.utf8))
        #expect(result.exitCode == mistake.status)
        let error = try decode(MachineError.self, result.errors)
        #expect(!error.code.isEmpty && !error.message.isEmpty && !error.hint.isEmpty)
    }

    @Test(arguments: Mistake.usage)
    func aUsageErrorHasThreeLinesAtMost(mistake: Mistake) throws {
        let result = try Sandbox.initialised().sealctl(mistake.arguments, input: Array(mistake.input.utf8))
        let lines = result.errorText.split(separator: "\n")
        #expect((1...3).contains(lines.count))
        #expect(lines.filter { $0.hasPrefix("sealctl: ") }.count == 1)
    }

    @Test func withoutAnyGroupTheWayOutIsNamed() throws {
        let result = try Sandbox().sealctl(["list"], group: "")
        #expect(result.exitCode == 64)
        #expect(result.errorText.contains("SEALCTL_GROUP"))
    }

    @Test(arguments: ["relative", ""])
    func aHomeThatIsNotAPlaceIsRefused(value: String) throws {
        let sandbox = try Sandbox()
        let result = try sandbox.shell("export SEALED_GROUPS_HOME='\(value)'; $S list")
        #expect(result.exitCode == 78)
    }

    @Test func aHeldLockIsATemporaryFailure() throws {
        let sandbox = try Sandbox.initialised()
        try sandbox.put("a", "{}")
        let holder = try ChildProcess(
            "sealed-probe", ["lock", sandbox.container, ".sealedstate.lock", "whole", "exclusive", "1000"])
        #expect(try holder.readLine() == "held")
        #expect(try sandbox.sealctl(["put", "a", "-"], input: Array("{}".utf8)).exitCode == 75)
        holder.closeInput()
    }

    @Test(.enabled(if: geteuid() == 0 && ChildProcess.canRunUnprivileged, "needs two users"))
    func anotherUsersFileIsAPermissionError() throws {
        let sandbox = try Sandbox.initialised()
        try sandbox.put("a", "{}")
        chmod(sandbox.directory.path, 0o755)
        let secret = try sandbox.file("secret", [1])
        for arguments in [["get", "a"], ["put", "a", secret], ["encrypt", "-o", "/proc/1/out"], ["audit"]] {
            let result = try ChildProcess.runUnprivileged("sealctl", arguments, environment: sandbox.environment)
            #expect(result.exitCode == 77, "\(arguments): \(result.errorText)")
        }
    }
}
