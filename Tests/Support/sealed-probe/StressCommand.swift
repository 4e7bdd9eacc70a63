internal import Glibc
internal import SealedState

/// The record that many processes write at once: the number of changes by each of them.
///
/// If no update was ever lost, the sum of the counts is the record's sequence.
struct StressRecord: SealedRecord {
    static let recordName = "stress"
    static let schemaVersion = 1
    var counts = [Int](repeating: 0, count: 9)
    var isLast = false
    var padding = ""

    var total: UInt64 { UInt64(counts.reduce(0, +)) }

    mutating func add(_ writer: Int) {
        counts[writer] += 1
        // The value occasionally needs more than one chunk.
        padding = String(repeating: "x", count: total % 16 == 0 ? 70_000 : Int(total % 100))
    }
}

private let recordCount = 4
private func stressName(_ number: Int) -> String { "stress/\(number)" }

/// `stress-write HOME GROUP WRITER SEED`: adds one to random records until it is killed, sometimes durably.
///
/// Prints `ack RECORD COUNT SEQUENCE` for each, with the writer's own count, or `failed RECORD CODE`.
func stressWriteCommand(arguments: [String]) -> Int32 {
    guard arguments.count == 4, let writer = Int(arguments[2]), var random = UInt64(arguments[3]) else { return 64 }
    return onStressedStore(arguments) { store throws(StoreError) in
        while true {
            let record = Int(next(&random) % UInt64(recordCount))
            var count = 0
            do throws(StoreError) {
                let sequence = try store.update(
                    StressRecord.self, named: stressName(record), startingWith: StressRecord(),
                    durability: next(&random) % 8 == 0 ? .durable : .unsynced
                ) {
                    $0.add(writer)
                    count = $0.counts[writer]
                }
                say("ack \(record) \(count) \(sequence)")
            } catch {
                say("failed \(record) \(error.code.rawValue)")
            }
        }
    }
}

/// `stress-finish HOME GROUP`: changes each record one last time. Prints `last RECORD SEQUENCE COUNT...` or `failed
/// RECORD CODE` for each.
func stressFinishCommand(arguments: [String]) -> Int32 {
    onStressedStore(arguments) { store throws(StoreError) in
        for record in 0..<recordCount {
            var counts = ""
            do throws(StoreError) {
                let sequence = try store.update(
                    StressRecord.self, named: stressName(record), startingWith: StressRecord()
                ) {
                    $0.add(8)
                    $0.isLast = true
                    counts = $0.counts.map(String.init).joined(separator: " ")
                }
                say("last \(record) \(sequence) \(counts)")
            } catch {
                say("failed \(record) \(error.code.rawValue)")
            }
        }
    }
}

/// `stress-read HOME GROUP SEED`: reads random records until it is killed.
///
/// Prints `seen RECORD SEQUENCE more|last` for each new state, and `bad RECORD REASON` for an impossible state.
func stressReadCommand(arguments: [String]) -> Int32 {
    guard arguments.count == 3, var random = UInt64(arguments[2]) else { return 64 }
    return onStressedStore(arguments) { store throws(StoreError) in
        var witnesses = (0..<recordCount).map(StressWitness.init)
        while true {
            let record = Int(next(&random) % UInt64(recordCount))
            do throws(StoreError) {
                witnesses[record].see(try store.snapshot(of: StressRecord.self, named: stressName(record)))
            } catch {
                witnesses[record].miss(error)
            }
        }
    }
}

/// `stress-watch HOME GROUP`: watches all records until it is killed. Prints the same lines as `stress-read`.
func stressWatchCommand(arguments: [String]) -> Int32 {
    onStressedStore(arguments) { store throws(StoreError) in
        for record in 0..<recordCount {
            let updates = try store.updates(of: StressRecord.self, named: stressName(record))
            Task {
                var witness = StressWitness(record)
                for await update in updates {
                    switch update.outcome {
                    case .value(let snapshot): witness.see(snapshot)
                    case .absent(let error), .rejected(let error): witness.miss(error)
                    }
                }
            }
        }
        while true { pause() }
    }
}

/// A check that compares each state of one record with the previous one.
private struct StressWitness {
    private let record: Int
    private var sequence: UInt64 = 0
    private var counts: [Int] = []
    private var refusal: String?

    init(_ record: Int) { self.record = record }

    mutating func see(_ snapshot: RecordSnapshot<StressRecord>) {
        let (value, found) = (snapshot.value, snapshot.provenance.sequence)
        refusal = nil
        if found < sequence { say("bad \(record) back") }
        if found == sequence && value.counts != counts { say("bad \(record) changed") }
        if found != sequence {
            say("seen \(record) \(found) \(value.isLast ? "last" : "more")")
            let isLost = value.total != found || zip(counts, value.counts).contains(where: >)
            if isLost { say("bad \(record) lost") }
        }
        (sequence, counts) = (found, value.counts)
    }

    mutating func miss(_ error: StoreError) {
        if error.code.rawValue != refusal && (error.code != .absent || sequence > 0) {
            say("bad \(record) \(error.code.rawValue)")
        }
        refusal = error.code.rawValue
    }
}

private func next(_ state: inout UInt64) -> UInt64 {
    state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
    return state >> 33
}

private func onStressedStore(_ arguments: [String], _ body: (SealedStore) throws(StoreError) -> Void) -> Int32 {
    guard arguments.count >= 2, let group = try? AppGroup(arguments[1]) else { return 64 }
    do throws(StoreError) {
        var options = StoreOptions()
        // Other processes are stopped for a while as they hold the lock.
        options.lockTimeout = .seconds(100)
        try body(try SealedStore(group: group, in: GroupsHome(root: arguments[0]), options: options))
        return 0
    } catch {
        say("failed - \(error.code.rawValue)")
        return 1
    }
}
