import Glibc
import TestSupport
import Testing

/// Tests of the files that `repair` removes or keeps, with concurrent writers and without permissions.
@Suite struct RepairRemovalTests {
    private func initialised() throws -> (Sandbox, String) {
        let sandbox = try Sandbox.initialised()
        try sandbox.put("a", "{}")
        return (sandbox, sandbox.container + "/Library/Application Support/Records")
    }

    private func makeOld(_ sandbox: Sandbox, _ path: String) throws {
        try SystemFile.write(path, [1])
        try sandbox.shell("touch -d '2 hours ago' '\(path)'")
    }

    /// The holder of the record's lock may be about to rename a value to that name.
    @Test func aRecordsLockIsRespected() throws {
        let (sandbox, records) = try initialised()
        try makeOld(sandbox, "\(records)/.a.sealed.new")
        let holder = try ChildProcess(
            "sealed-probe", ["lock", sandbox.container, ".sealedstate.lock", "whole", "exclusive", "1000"])
        #expect(try holder.readLine() == "held")
        let result = try sandbox.sealctl(["repair", "--yes"])
        #expect(result.exitCode == 75)
        #expect(result.outputText.hasPrefix("left"), "\(result.outputText)")
        #expect(SystemFile.exists("\(records)/.a.sealed.new"))
        holder.closeInput()
        _ = try holder.finish()
        try sandbox.succeed(["repair", "--yes"])
        #expect(!SystemFile.exists("\(records)/.a.sealed.new"))
    }

    @Test func aHeldFileIsNotReportedAsRemoved() throws {
        let (sandbox, records) = try initialised()
        let name = ".a.sealed.0123456789abcdef.new"
        try makeOld(sandbox, "\(records)/\(name)")
        let holder = try ChildProcess("sealed-probe", ["lock", records, name, "whole", "exclusive", "1000"])
        #expect(try holder.readLine() == "held")
        let result = try sandbox.sealctl(["repair", "--yes"])
        #expect(result.exitCode == 75 && result.outputText.hasPrefix("left"), "\(result.outputText)")
        holder.closeInput()
    }

    @Test func writersBesideItDoNotFail() throws {
        let (sandbox, records) = try initialised()
        let script = """
            i=0; while [ $i -lt 40 ]; do
              touch -d '2 hours ago' '\(records)/.a.sealed.new' '\(records)/.a.sealed.0123456789abcdef.new'
              "$S" repair --yes > repairs 2>&1 & echo '{}' | "$S" put a - > out 2> err || { cat err; exit 1; }
              wait; i=$((i + 1)); done
            """
        let result = try sandbox.shell(script)
        #expect(result.exitCode == 0, "\(result.outputText)")
    }

    /// Runs a command as an ordinary user, who owns everything in the sandbox then.
    private func asOrdinaryUser(_ sandbox: Sandbox, _ arguments: [String]) throws -> ChildResult {
        if geteuid() == 0 {
            try sandbox.shell("chown -R 65534:65534 '\(sandbox.directory.path)'")
        }
        return try ChildProcess.runUnprivileged("sealctl", arguments, environment: sandbox.environment)
    }

    @Test(.enabled(if: ChildProcess.canRunUnprivileged, "setpriv"))
    func aFailedRemovalIsAFailure() throws {
        let (sandbox, records) = try initialised()
        try makeOld(sandbox, "\(records)/.a.sealed.new")
        chmod(records, 0o500)
        defer { chmod(records, 0o700) }
        let result = try asOrdinaryUser(sandbox, ["repair", "--yes"])
        #expect(result.exitCode == 77, "\(result.outputText)\(result.errorText)")
        #expect(result.outputText.hasPrefix("failed"))
    }

    @Test(.enabled(if: ChildProcess.canRunUnprivileged, "setpriv"), arguments: [".a.sealed.0123456789abcdef.new"])
    func unreadableFilesStay(name: String) throws {
        let (sandbox, records) = try initialised()
        try makeOld(sandbox, "\(records)/\(name)")
        chmod("\(records)/\(name)", 0)
        #expect(try asOrdinaryUser(sandbox, ["repair", "--yes"]).exitCode == 77)
        #expect(SystemFile.exists("\(records)/\(name)"))
    }

    @Test(.enabled(if: EditSandbox.hasMemory, "/dev/shm"))
    func filesOfAKilledEditAreWiped() throws {
        let edit = try EditSandbox()
        let place = "\(edit.runtime)/sealctl-edit.1234"
        #expect(mkdir(place, 0o700) == 0)
        try SystemFile.write("\(place)/a.json", Array(#"{"secret":1}"#.utf8))
        let variable = "XDG_RUNTIME_DIR=\(edit.runtime)"
        let plan = try edit.sandbox.shell("\(variable) $S repair --dry-run --json")
        #expect(plan.outputText.contains(#""action":"wipeEdit""#) && plan.outputText.contains(place))
        #expect(SystemFile.exists("\(place)/a.json"))
        #expect(try edit.sandbox.shell("\(variable) $S repair --yes").exitCode == 0)
        #expect(!SystemFile.exists(place))
    }

    @Test(.enabled(if: EditSandbox.hasMemory, "/dev/shm"))
    func aKeptEditIsAWarningOfTheDoctor() throws {
        let edit = try EditSandbox()
        let place = "\(edit.runtime)/sealctl-kept.1234"
        #expect(mkdir(place, 0o700) == 0)
        let reported = try edit.sandbox.shell("XDG_RUNTIME_DIR=\(edit.runtime) $S doctor")
        #expect(reported.exitCode == 0 && reported.outputText.contains(place), "\(reported.outputText)")
        #expect(try edit.sandbox.shell("XDG_RUNTIME_DIR=\(edit.runtime) $S repair").outputText == "nothing to repair\n")
    }
}
