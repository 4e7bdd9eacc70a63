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
    func whateverIsKilledLosesNothingAndIsCompletedByTheNext(change: Change) throws {
        let calls = try places(of: change)
        #expect(calls.count > 5)
        for call in calls {
            let yard = try prepared(for: change)
            let result = try traced(change, in: yard).run(killedAt: call)
            try #require(result.exitCode != 0, "\(call) was not reached")
            try examine(yard, after: change, "killed at \(call): \(call.line)")
        }
    }

    private func prepared(for change: Change) throws -> RegistryYard {
        let yard = try RegistryYard()
        switch change {
        case .first: break
        case .unregister, .resetOpaque: try yard.mark(try yard.register("app", .iOS))
        case .resetNamed: try yard.mark(try yard.register("app", .macOS))
        case .again:
            try yard.mark(try yard.register("app", .iOS))
            try yard.registry.unregister("app")
        }
        return yard
    }

    private func traced(_ change: Change, in yard: RegistryYard) -> TracedProcess {
        let words =
            switch change {
            case .first, .again: ["register", "app", "iOS"]
            case .unregister: ["unregister", "app"]
            case .resetOpaque, .resetNamed: ["reset"]
            }
        return TracedProcess(yard.probe(words), log: yard.temporary.base + "/strace.log")
    }

    private func places(of change: Change) throws -> [TracedProcess.Call] {
        let yard = try prepared(for: change)
        let traced = traced(change, in: yard)
        #expect(try traced.run().exitCode == 0)
        return try traced.calls(from: "Containers").filter(\.isChange)
    }

    private func examine(_ yard: RegistryYard, after change: Change, _ comment: String) throws {
        let hadMark = change != .first
        #expect(yard.places().count == (hadMark ? 1 : 0), "\(comment)")
        // Readers can use it in this state.
        _ = try yard.registry.members()

        let container = try yard.register("other")
        let entry = try #require(try yard.registry.entry())
        #expect(entry.departure == nil, "\(comment)")
        #expect(yard.directories.count == 1 && container.path.hasSuffix(yard.directories[0]), "\(comment)")
        #expect(yard.places().count == (hadMark ? 1 : 0), "\(comment)")
        #expect(entry.member("other") != nil, "\(comment)")
        yard.removeRegistry()
        #expect(try yard.open().path == container.path, "\(comment)")
        #expect(try yard.registry.members().map(\.applicationIdentifier) == entry.members.map(\.applicationIdentifier))
    }
}
