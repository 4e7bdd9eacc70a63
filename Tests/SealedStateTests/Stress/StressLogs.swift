/// An output line of a process that violates an invariant.
struct StressFailure: Error, CustomStringConvertible {
    let description: String

    init(_ what: String, _ line: String?) { description = "\(what): \(line ?? "nothing")" }
}

/// The output of one writer's processes.
struct WriterLog {
    /// An acknowledged write: the writer's own count in the record, and the record's sequence.
    struct Acknowledgement: Hashable {
        let record: Int
        let count: Int
        let sequence: UInt64
    }

    private(set) var acknowledged: [Acknowledgement] = []
    var kills = 0

    mutating func note(_ line: String?) throws(StressFailure) {
        let words = (line ?? "").split(separator: " ")
        guard words.count == 4, words[0] == "ack", let record = Int(words[1]), let count = Int(words[2]),
            let sequence = UInt64(words[3])
        else { throw StressFailure("a writer said", line) }
        // A repeated count was acknowledged and lost.
        if let last = acknowledged.last(where: { $0.record == record }),
            count <= last.count || sequence <= last.sequence
        {
            throw StressFailure("lost after \(last)", line)
        }
        acknowledged.append(Acknowledgement(record: record, count: count, sequence: sequence))
    }
}

/// The output of one reader's or watcher's processes.
struct ReaderLog {
    private(set) var sequences = [UInt64](repeating: 0, count: StressSandbox.records)
    private var ended: Set<Int> = []

    var isComplete: Bool { ended.count == StressSandbox.records }

    mutating func note(_ line: String?) throws(StressFailure) {
        let words = (line ?? "").split(separator: " ")
        guard words.count == 4, words[0] == "seen", let record = Int(words[1]), let sequence = UInt64(words[2]) else {
            throw StressFailure("a reader said", line)
        }
        // The order holds across kills: no state is older than one seen before.
        if sequence < sequences[record] { throw StressFailure("taken back after \(sequences[record])", line) }
        sequences[record] = sequence
        if words[3] == "last" { ended.insert(record) }
    }
}
