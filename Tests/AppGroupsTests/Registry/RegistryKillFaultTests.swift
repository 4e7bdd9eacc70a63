import AppGroups
import TestSupport
import Testing

/// Tests of kills at every system call that changes a file: all remaining files are whole, no written state is lost,
/// and the next change completes the interrupted one.
@Suite(.enabled(if: TracedProcess.isPossible, "strace is missing or may not trace"), .timeLimit(.minutes(20)))
struct RegistryKillFaultTests {
    enum Change: String, CaseIterable {
        /// The group's first container.
        case first
        case unregister
        case resetOpaque, resetNamed
        /// A container for a group whose last member had left.
        case again
    }

    @Test(arguments: Change.allCases)
    func aKillAtAnyPointLosesNothingAndTheNextRunCompletes(change: Change) throws {
        let calls = try places(of: change)
        #expect(calls.count > 5)
        for call in calls {
            let sandbox = try prepared(for: change)
            let result = try traced(change, in: sandbox).run(killedAt: call)
            try #require(result.exitCode != 0, "\(call) was not reached")
            try examine(sandbox, after: change, "killed at \(call): \(call.line)")
        }
    }

    private func prepared(for change: Change) throws -> RegistrySandbox {
        let sandbox = try RegistrySandbox()
        switch change {
        case .first: break
        case .unregister, .resetOpaque: try sandbox.mark(try sandbox.register("app", .iOS))
        case .resetNamed: try sandbox.mark(try sandbox.register("app", .macOS))
        case .again:
            try sandbox.mark(try sandbox.register("app", .iOS))
            try sandbox.registry.unregister("app")
        }
        return sandbox
    }

    private func traced(_ change: Change, in sandbox: RegistrySandbox) -> TracedProcess {
        let words =
            switch change {
            case .first, .again: ["register", "app", "iOS"]
            case .unregister: ["unregister", "app"]
            case .resetOpaque, .resetNamed: ["reset"]
            }
        return TracedProcess(sandbox.probe(words), log: sandbox.temporary.base + "/strace.log")
    }

    private func places(of change: Change) throws -> [TracedProcess.Call] {
        let sandbox = try prepared(for: change)
        let traced = traced(change, in: sandbox)
        #expect(try traced.run().exitCode == 0)
        return try traced.calls(from: "Containers").filter(\.isChange)
    }

    private func examine(_ sandbox: RegistrySandbox, after change: Change, _ comment: String) throws {
        let hadMark = change != .first
        #expect(sandbox.places().count == (hadMark ? 1 : 0), "\(comment)")
        // Readers can use it in this state.
        _ = try sandbox.registry.members()

        let container = try sandbox.register("other")
        let entry = try #require(try sandbox.registry.entry())
        #expect(entry.departure == nil, "\(comment)")
        #expect(sandbox.directories.count == 1 && container.path.hasSuffix(sandbox.directories[0]), "\(comment)")
        #expect(sandbox.places().count == (hadMark ? 1 : 0), "\(comment)")
        #expect(entry.member("other") != nil, "\(comment)")
        sandbox.removeRegistry()
        #expect(try sandbox.open().path == container.path, "\(comment)")
        #expect(
            try sandbox.registry.members().map(\.applicationIdentifier) == entry.members.map(\.applicationIdentifier))
    }
}
