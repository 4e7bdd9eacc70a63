import KeyVault
import TestSupport
import Testing

/// Tests of system calls that fail during a change: the result matches the contents of the file.
@Suite(
    .enabled(if: TracedProcess.isPossible, "needs strace and the right to trace"), .timeLimit(.minutes(60)))
struct VaultCallFaultTests {
    static let errors = ["ENOSPC", "EIO", "EROFS", "EMFILE", "EINTR"]
    /// Calls that only read may fail as well, after the change was made as before.
    static let looks: Set = ["openat", "openat2", "pread64", "newfstatat"]
    /// The permitted errors of a change that was not made.
    static let refusals: Set<String> = ["file", "logFailed", "lockTimeout"]

    @Test(arguments: [SweptChange.add, .passphrase])
    func aFailingCallLeavesOldOrNewAndTheAnswerSaysWhich(_ change: SweptChange) throws {
        let swept = try SweptVault(change)
        var answers: Set<String> = []
        for (index, call) in try calls(of: swept).enumerated() {
            // The short form combines each call with one error, and each error with some calls.
            let errors = isLongForm ? Self.errors : [Self.errors[index % Self.errors.count]]
            for error in errors { answers.insert(try fail(call, with: error, swept)) }
        }
        _ = try swept.prepare()
        #expect(try swept.staleFiles() == [])
        #expect(answers.isSuperset(of: ["done", "file"]), "\(answers)")
    }

    @Test func aDirectoryThatCannotBeSyncedIsReported() throws {
        let swept = try SweptVault(.add)
        let calls = try calls(of: swept)
        let named = try #require(calls.lastIndex { $0.name == "renameat" && $0.line.contains("\"vault\"") })
        let sync = try #require(calls[named...].first { $0.name == "fsync" })
        for error in Self.errors { #expect(try fail(sync, with: error, swept) == "durabilityUnknown", "\(error)") }
        // The memory of the place is synced too, but its failure does not fail the change.
        let memory = try #require(calls.last { $0.name == "fsync" })
        #expect(memory.ordinal > sync.ordinal)
        for error in Self.errors { #expect(try fail(memory, with: error, swept) == "done", "\(error)") }
    }

    private func fail(_ call: TracedProcess.Call, with error: String, _ swept: SweptVault) throws -> String {
        let old = try swept.prepare()
        let traced = swept.probe
        defer { traced.removeLog() }
        let answer =
            try traced.run(failing: call, with: error)
            .outputText.split(separator: "\n").last.map(String.init) ?? ""
        let comment: Comment = "\(call) \(error): \(answer)"
        let isNew = try swept.wasChanged(old, comment)
        #expect(isNew ? ["done", "durabilityUnknown"].contains(answer) : Self.refusals.contains(answer), comment)
        // The next change of an item removes its value file.
        #expect(try swept.staleFiles(withValues: false) == [], comment)
        return answer
    }

    /// Returns the calls from the acquisition of the lock to its release.
    private func calls(of swept: SweptVault) throws -> [TracedProcess.Call] {
        let old = try swept.prepare()
        let traced = swept.probe
        defer { traced.removeLog() }
        #expect(try traced.run().outputText.hasSuffix("done\n"))
        #expect(try swept.wasChanged(old, "undisturbed"))
        let calls = try traced.calls(from: "\".lock\"")
        #expect(calls.contains { $0.name == "renameat" })
        return calls.filter { $0.isChange || Self.looks.contains($0.name) }
    }
}
