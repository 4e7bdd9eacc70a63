import TestSupport
import Testing

/// Tests with eight writers, eight readers and two watchers on four records, all of them killed and stopped at random.
@Suite(.timeLimit(.minutes(60))) struct StressFaultTests {
    private enum Outcome: Sendable {
        case wrote(WriterLog)
        case saw(ReaderLog)
    }

    // writers:  lock, read, add one, write, acknowledge … killed … another goes on       | the last one ends each
    // record readers:  read, read … killed … another never sees less … stopped, woken           | see it
    // watchers: get some states, in order … killed … another gets the present one    | get it
    @Test func nothingAcknowledgedIsLostAndNoReaderGoesBack() throws {
        let sandbox = try StressSandbox()
        let wanted = isLongForm ? 3000 : 40
        let outcomes = try concurrently(StressSandbox.writers + 10) { slot in
            switch slot {
            case 0..<8: return Outcome.wrote(try sandbox.write(slot, acknowledgements: wanted))
            case 8..<16: return .saw(try sandbox.look(slot, "stress-read"))
            default: return .saw(try sandbox.look(slot, "stress-watch"))
            }
        }
        var logs: [WriterLog] = []
        for outcome in outcomes {
            switch outcome {
            case .success(.wrote(let log)): logs.append(log)
            case .success(.saw(let log)): #expect(log.sequences == sandbox.lastStates.map(\.sequence), sandbox.comment)
            case .failure(let error): Issue.record("\(error), \(sandbox.comment)")
            }
        }
        try judge(logs, sandbox)
    }

    private func judge(_ logs: [WriterLog], _ sandbox: StressSandbox) throws {
        let states = sandbox.lastStates
        try #require(states.count == StressSandbox.records && logs.count == StressSandbox.writers, sandbox.comment)
        for state in states { #expect(state.counts.reduce(0, +) == Int(state.sequence), sandbox.comment) }
        for (writer, log) in logs.enumerated() {
            for (record, state) in states.enumerated() {
                let last = log.acknowledged.last { $0.record == record }?.count ?? 0
                #expect(state.counts[writer] >= last, sandbox.comment)
            }
            // At most one more for each kill: the write that was not acknowledged.
            let written = states.reduce(0) { $0 + $1.counts[writer] }
            #expect((0...log.kills).contains(written - log.acknowledged.count), sandbox.comment)
        }
        let places = logs.flatMap(\.acknowledged).map { [UInt64($0.record), $0.sequence] }
        #expect(Set(places).count == places.count, sandbox.comment)
        #expect(logs.allSatisfy { $0.kills > 0 }, sandbox.comment)
    }
}
