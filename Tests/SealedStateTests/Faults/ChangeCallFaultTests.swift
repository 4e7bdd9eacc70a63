import SealedState
import TestSupport
import Testing

/// Tests of system calls that fail during an update, a deletion or a purge: the record is in the old or in the new
/// state, and the answer says which. `SystemCallFaultTests` has plain writes.
@Suite(
    .enabled(if: TracedProcess.isPossible, "needs strace and the right to trace"), .timeLimit(.minutes(60)))
struct ChangeCallFaultTests {
    enum Change: String, CaseIterable, Sendable { case update, delete, purge }

    /// The visible state of the record.
    private enum State: Equatable {
        case value(Int)
        case tombstone
        case nothing
    }

    private static let errors = SystemCallFaultTests.errors.merging(
        ["unlinkat": ["EROFS", "EIO", "EINTR"]], uniquingKeysWith: { first, _ in first })

    @Test(arguments: Change.allCases) func aFailingCallLeavesOldOrNewAndTheAnswerSaysWhich(_ change: Change) throws {
        let fixture = try StoreFixture()
        let store = try fixture.open()
        var answers: Set<String> = []
        for call in try calls(change, fixture, store) {
            let errors = Self.errors[call.name] ?? []
            for error in isLongForm ? errors : Array(errors.prefix(call.isChange ? 2 : 1)) {
                answers.insert(try fail(call, with: error, change, fixture, store))
            }
        }
        // A purge needs no space.
        #expect(answers.isSuperset(of: ["done", "durabilityUnknown", "readOnly"]), "\(answers)")
        // A deletion takes its reserved space.
        if change == .update { #expect(answers.contains("noSpace"), "\(answers)") }
        if change == .delete { #expect(!answers.contains("noSpace"), "\(answers)") }
    }

    private func fail(
        _ call: TracedProcess.Call, with error: String, _ change: Change, _ fixture: StoreFixture, _ store: SealedStore
    ) throws -> String {
        let old = try prepare(change, store)
        let traced = fixture.traced(["store-change", change.rawValue, "2"])
        defer { traced.removeLog() }
        let answer = try traced.run(failing: call, with: error)
            .outputText.trimmingNewlines
        let comment: Comment = "\(call.line) \(error): \(answer)"
        let isNew = ["done", "durabilityUnknown", "lockLost"].contains(answer)
        #expect(try state(fixture) == (isNew ? Self.changed(change) : old), comment)
        let hasReserve = change == .delete && ["ENOSPC", "EDQUOT"].contains(error)
        #expect(Self.answers(call, error, hasReserve: hasReserve).contains(answer), comment)
        // A failed sync is never repeated: it would succeed, after the kernel has dropped the unwritten data.
        if call.name == "fdatasync" || (call.name == "fsync" && change != .purge) {
            let expected = hasReserve && isNew && call.name == "fdatasync" ? 2 : 1
            #expect(try traced.count(of: call.name) == expected, comment)
        }
        #expect(try fixture.staleFiles() == [], comment)
        return answer
    }

    /// Returns the possible answers after a failed call.
    private static func answers(
        _ call: TracedProcess.Call, _ error: String, hasReserve: Bool
    ) -> Set<String> {
        let refusal = SystemCallFaultTests.refusals[error] ?? "file"
        switch call.name {
        case "fsync": return ["durabilityUnknown"]
        case "fdatasync", "fallocate", "renameat", "linkat", "unlinkat", "fchmod":
            return (error == "EINTR" && call.name != "fdatasync") || hasReserve ? ["done"] : [refusal]
        // Calls that only look, or only remember, need not matter.
        default: return error == "EINTR" ? ["done"] : ["done", refusal, "lockTimeout", "lockLost"]
        }
    }

    /// Creates the state that is to be changed.
    private func prepare(_ change: Change, _ store: SealedStore) throws -> State {
        try store.write(ProbeRecord(number: 1, text: "x"))
        guard change == .purge else { return .value(1) }
        try store.delete(ProbeRecord.self, durability: .durable)
        return .tombstone
    }

    private static func changed(_ change: Change) -> State {
        switch change {
        case .update: .value(2)
        case .delete: .tombstone
        case .purge: .nothing
        }
    }

    private func state(_ fixture: StoreFixture) throws -> State {
        do {
            return .value(try fixture.open().read(ProbeRecord.self).number)
        } catch {
            guard error.code == .absent else { throw error }
            return SystemFile.exists(fixture.file("probe")) ? .tombstone : .nothing
        }
    }

    /// Returns the calls from the acquisition of the lock to its release.
    private func calls(
        _ change: Change, _ fixture: StoreFixture, _ store: SealedStore
    ) throws -> [TracedProcess.Call] {
        _ = try prepare(change, store)
        let traced = fixture.traced(["store-change", change.rawValue, "2"])
        defer { traced.removeLog() }
        #expect(try traced.run().outputText == "done\n")
        #expect(try state(fixture) == Self.changed(change))
        let calls = try traced.calls(from: ".sealedstate.lock").prefix {
            !($0.line.contains("F_OFD_SETLK") && $0.line.contains("F_UNLCK"))
        }
        let step = change == .purge ? "unlinkat" : "renameat"
        #expect(calls.contains { $0.name == step } && calls.contains { $0.name == "fsync" })
        return Array(calls)
    }
}
