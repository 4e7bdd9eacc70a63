import SealedBackends
import SealedStateTestKit
import TestSupport
import Testing

/// Several processes, each with several threads, read, write, update, remove and commit batches, and two follow the
/// changes. Their calls on each record have one order.
///
/// `SEALED_SOAK` is the duration in seconds.
@Suite(.timeLimit(.minutes(150))) struct BackendSoakFaultTests {
    private static let duration = environmentVariable("SEALED_SOAK").flatMap { Int($0) } ?? (isLongForm ? 60 : 3)
    /// The calls of a round are compared together.
    private static let round: UInt64 = 1_500_000_000

    @Test(arguments: BackendSandbox.kinds) func theCallsOfManyProcessesHaveOneOrder(_ kind: BackendSandbox.Kind) throws
    {
        let sandbox = try BackendSandbox(kind)
        let backend = try sandbox.open()
        let reader = try BackendSoak(backend, seed: 0)
        let seed = UInt64.random(in: .min ... .max)
        var random = SeededGenerator(seed: seed)
        var states: [String: RecordHistory.Call] = [:]
        let end = BackendSoak.now + UInt64(Self.duration) * 1_000_000_000
        var (calls, puts, removals) = (0, 0, 0)
        while BackendSoak.now < end {
            let watchers = try (0..<2).map { _ in try sandbox.child("backend-watch") }
            for watcher in watchers { #expect(try watcher.readLine() == "ready") }
            var notes = try work(sandbox, &random)
            var last: [String: RecordHistory.Call] = [:]
            for record in BackendSoak.records(of: backend.traits) {
                let state = try reader.present(record)
                last[record.name] = state
                // A record without a change is not reported.
                guard state.sequence != states[record.name]?.sequence ?? 0 else { continue }
                for watcher in watchers {
                    try watcher.write("\(record.name) \(state.sequence)\n")
                    #expect(try watcher.readLine() == "seen", "\(record.name), seed \(seed)")
                }
            }
            for watcher in watchers { notes += try Self.notes(of: watcher) }
            for (record, state) in last {
                let history = notes.filter { $0.record == record }.map(\.call) + [state]
                let fault = RecordHistory(history, initial: states[record]).fault()
                #expect(fault == nil, "\(record), seed \(seed)")
                states[record] = state.asState
            }
            calls += notes.count
            puts += notes.count { $0.call.kind == .put }
            removals += notes.count { $0.call.kind == .remove }
        }
        #expect(puts > 0 && removals > 0)
        print("\(calls) calls on \(kind), seed \(seed)")
    }

    /// Runs three processes for one round.
    private func work(_ sandbox: BackendSandbox, _ random: inout SeededGenerator) throws -> [BackendSoak.Note] {
        let end = BackendSoak.now + Self.round
        let workers = try (0..<3).map { _ in try sandbox.child("backend-soak", "\(random.next())", "\(end)", "2") }
        return try workers.flatMap { try Self.notes(of: $0) }
    }

    private static func notes(of child: ChildProcess) throws -> [BackendSoak.Note] {
        let result = try child.finish()
        let notes = BackendSoak.Note.all(in: result.outputText)
        return try #require(notes, "\(result.outputText.split(separator: "\n").first { $0.contains("failed") } ?? "")")
    }
}
