internal import Dispatch
internal import Glibc
package import SealedBackends
internal import SharedFiles
internal import Synchronization

/// Programs that read, write, update, remove and commit batches at the same time, and note their calls.
package struct BackendSoak: Sendable {
    /// A call on a record. The records of a batch have one name: they count as one record.
    package struct Note: Sendable, CustomStringConvertible {
        package let record: String
        package let call: RecordHistory.Call

        /// A line of a program's output.
        package var description: String { "\(record) \(call)" }

        init(record: String, call: RecordHistory.Call) {
            self.record = record
            self.call = call
        }

        /// Reads the lines of a program's output; nil if one of them is no call.
        package static func all(in output: String) -> [Note]? {
            var notes: [Note] = []
            for line in output.split(separator: "\n") {
                let words = line.split(separator: " ", maxSplits: 1)
                guard words.count == 2, let call = RecordHistory.Call(String(words[1])) else { return nil }
                notes.append(Note(record: String(words[0]), call: call))
            }
            return notes
        }
    }

    /// A record: one key, or the keys that batches write together.
    package struct Record: Sendable {
        package let name: String
        package let keys: [BackendKey]
        /// A key that every write replaces as well. It has the last sequence while the others have no blob.
        let counter: BackendKey?
        /// Without a counter or a lock a write may have been decided before a removal that it follows.
        let isRemovable: Bool
    }

    private let run: BackendRun

    /// - Parameter exclude: Runs a change while no other program writes a record.
    package init(
        _ backend: any SealedBackend, seed: UInt64,
        exclude: (@Sendable (BackendKey, () throws -> Void) throws -> Void)? = nil
    ) throws {
        run = try BackendRun(BackendSubject(exclude: exclude) { backend }, seed: seed)
    }

    init(_ run: BackendRun) { self.run = run }

    /// The records that the programs use.
    package static func records(of traits: BackendTraits) -> [Record] {
        let hasCounters = traits.comparesConditions && traits.batchLimit > 3
        func record(_ name: String, _ keys: [BackendKey], isCounted: Bool) -> Record {
            Record(
                name: name, keys: keys, counter: isCounted && hasCounters ? BackendKey("count/\(name)") : nil,
                isRemovable: isCounted && hasCounters || !traits.comparesConditions)
        }
        let singles = (0..<3).map { record("s\($0)", [BackendKey("s\($0)")], isCounted: $0 == 2) }
        return singles + [record("g", (0..<min(traits.batchLimit, 3)).map { BackendKey("g/\($0)") }, isCounted: true)]
    }

    /// The time of the monotonic clock, which all processes share, in nanoseconds.
    package static var now: UInt64 {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec)
    }

    /// Makes random calls until that time, and returns them.
    package func work(until end: UInt64) throws -> [Note] {
        var worker = Worker(run: run, random: run.random)
        while Self.now < end { try worker.step() }
        return worker.notes
    }

    /// Reads a record, whose present state then has the last place.
    package func present(_ record: Record) throws -> RecordHistory.Call {
        var worker = Worker(run: run, random: run.random)
        return try worker.read(record, record.keys[0]).call
    }

    /// Follows changes until `end` is called, and reads each reported record.
    ///
    /// - Parameters:
    ///   - begin: Gets the function that ends it.
    ///   - visit: Gets each reading.
    package func follow(
        begin: (@escaping @Sendable () -> Void) throws -> Void, visit: @escaping @Sendable (Note) -> Void
    ) throws {
        let follower = follower(visit)
        let changes = try run.retrying { try run.other.changes(after: nil) { follower.notify() } }
        try begin { follower.end() }
        try follower.follow(changes)
        withExtendedLifetime(changes) {}
    }

    func follower(_ visit: @escaping @Sendable (Note) -> Void) -> Follower {
        let records = Self.records(of: run.backend.traits)
        return Follower(records.flatMap(\.keys), page: 1000) { [run] key in
            var worker = Worker(run: run, random: run.random)
            guard let record = records.first(where: { $0.keys.contains(key) }) else { return nil }
            let (blob, call) = try worker.read(record, key)
            visit(Note(record: record.name, call: call))
            return blob
        }
    }
}

/// One thread of a soak.
private struct Worker {
    let run: BackendRun
    var random: SplitMix64
    var notes: [BackendSoak.Note] = []

    private static let sequenceSize = 8

    mutating func step() throws {
        let records = BackendSoak.records(of: run.backend.traits)
        let record = records[Int.random(in: 0..<records.count, using: &random)]
        let key = record.keys[Int.random(in: 0..<record.keys.count, using: &random)]
        switch Int.random(in: 0..<20, using: &random) {
        case 0..<7: _ = try read(record, key)
        case 7..<9: try list(record)
        case let kind:
            let attempt = { (worker: inout Worker) in try worker.write(record, isRemoval: kind > 17, isRead: kind < 15)
            }
            guard let exclude = run.subject.exclude else { return try attempt(&self) }
            var copy = self
            try exclude(record.keys[0]) { try attempt(&copy) }
            self = copy
        }
    }

    /// Reads a key of a record.
    mutating func read(
        _ record: BackendSoak.Record, _ key: BackendKey
    ) throws -> (blob: [UInt8]?, call: RecordHistory.Call) {
        let start = BackendSoak.now
        let blob = try run.retrying { try run.other.read(key, limit: .max) }?.bytes
        if let blob { try run.require(BackendRun.isWhole(blob), "A reading returned parts of two blobs.") }
        return (blob, note(record, start, blob))
    }

    private mutating func list(_ record: BackendSoak.Record) throws {
        let start = BackendSoak.now
        let heads = try run.retrying { try run.other.scan(record.name, after: nil, limit: 100) }
        for key in record.keys { note(record, start, heads.first { $0.key == key }?.bytes) }
    }

    @discardableResult
    private mutating func note(_ record: BackendSoak.Record, _ start: UInt64, _ blob: [UInt8]?) -> RecordHistory.Call {
        let call = RecordHistory.Call(
            .read, start, BackendSoak.now, sequence: blob.map(Self.sequence) ?? 0, mark: blob.map(Self.mark) ?? 0)
        notes.append(BackendSoak.Note(record: record.name, call: call))
        return call
    }

    /// Replaces or removes the blobs of a record, if they are still those that were found.
    private mutating func write(_ record: BackendSoak.Record, isRemoval: Bool, isRead: Bool) throws {
        let count = try record.counter.map { key in
            (key, head: try run.retrying { try run.backend.head(key) }?.bytes)
        }
        let known = isRead ? try read(record, record.keys[0]).blob : try head(record)
        if isRemoval && (known == nil || !record.isRemovable) { return }
        let replaced = known.map(Self.sequence) ?? 0
        let former = max(replaced, count?.head.map(Self.sequence) ?? 0)
        // Under a lock the time is higher than all former sequences, also after a removal.
        let sequence = max(former + 1, BackendSoak.now)
        var blob = run.blob(using: &random)
        blob.replaceSubrange(..<Self.sequenceSize, with: withUnsafeBytes(of: sequence.bigEndian) { Array($0) })
        let condition = run.condition(known)
        var writes = record.keys.map { BackendWrite($0, isRemoval ? .remove : .put(blob), if: condition) }
        if let (key, head) = count { writes.append(BackendWrite(key, .put(blob), if: run.condition(head))) }
        let durability: Durability = Int.random(in: 0..<20, using: &random) == 0 ? .durable : .unsynced
        let start = BackendSoak.now
        guard let isMade = try commit(writes, durability, replacing: condition) else { return }
        let call = RecordHistory.Call(
            isRemoval ? .remove : .put, start, isMade ? BackendSoak.now : RecordHistory.Call.unknown,
            sequence: sequence, mark: isRemoval ? 0 : Self.mark(blob), replaced: replaced)
        notes.append(BackendSoak.Note(record: record.name, call: call))
    }

    private mutating func head(_ record: BackendSoak.Record) throws -> [UInt8]? {
        let start = BackendSoak.now
        let head = try run.retrying { try run.backend.head(record.keys[0]) }?.bytes
        note(record, start, head)
        return head
    }

    /// - Returns: nil if nothing was written; `false` if that is unknown.
    private func commit(
        _ writes: [BackendWrite], _ durability: Durability, replacing condition: BackendWrite.Condition
    ) throws -> Bool? {
        switch try run.code({ try run.backend.commit(writes, durability: durability) }) {
        case nil: return true
        case .conflict where run.backend.traits.comparesConditions: return nil
        case .indeterminate:
            let head = try run.retrying { try run.backend.settle(writes[0].key) }
            let found: BackendWrite.Condition = head.map { .version($0.version) } ?? .absent
            // Another program may have removed what was written.
            if found == condition && condition != .absent { return nil }
            if case .put(let blob) = writes[0].change { return head?.version == BlobVersion(of: blob) }
            return false
        case .some(let code): throw BackendFault(nil, 0, "A commit failed with \(code.rawValue).")
        }
    }

    private static func sequence(_ blob: [UInt8]) -> UInt64 { number(blob[..<sequenceSize]) }

    private static func mark(_ blob: [UInt8]) -> UInt64 { number(BlobVersion(of: blob).bytes[..<8]) }

    private static func number(_ bytes: ArraySlice<UInt8>) -> UInt64 { bytes.reduce(0) { $0 << 8 | UInt64($1) } }
}

extension BackendRun {
    private static let workers = 4
    /// The calls of a round are compared together.
    private static let round: UInt64 = 1_000_000_000

    mutating func soak() throws -> BackendCheck.Outcome {
        guard backend.traits.comparesConditions || subject.exclude != nil else {
            return .notTested("The backend relies on the records' locks, and the subject has none.")
        }
        let records = BackendSoak.records(of: backend.traits)
        let (run, follower) = (self, BackendSoak(self).follower { _ in })
        let changes = try retrying { try other.changes(after: nil) { follower.notify() } }
        let seed = random.next()
        try Threads().run(2) { number in
            if number == 1 { return try follower.follow(changes) }
            defer { follower.end() }
            try run.soak(records, follower, SplitMix64(state: seed))
        }
        withExtendedLifetime(changes) {}
        return .passed
    }

    private func soak(_ records: [BackendSoak.Record], _ follower: Follower, _ random: SplitMix64) throws {
        var random = random
        var states: [String: RecordHistory.Call] = [:]
        var writes = 0
        let (seconds, attoseconds) = subject.soakDuration.components
        let end = BackendSoak.now + UInt64(seconds) * Self.round + UInt64(attoseconds / Int64(Self.round))
        while BackendSoak.now < end {
            let notes = try soakRound(until: min(end, BackendSoak.now + Self.round), seed: random.next())
            var present: [BackendKey: [UInt8]?] = [:]
            for record in records {
                let last = try BackendSoak(self).present(record)
                let calls = notes.filter { $0.record == record.name }.map(\.call) + [last]
                let fault = RecordHistory(calls, initial: states[record.name]).fault()
                try require(fault == nil, "The calls on \(record.name) have no order: \(fault ?? "")")
                states[record.name] = last.asState
                for key in record.keys { present.updateValue(try read(key), forKey: key) }
            }
            try follower.wait(for: present)
            writes += notes.count { $0.call.kind != .read }
        }
        try require(writes > 0, "No write was made.")
    }

    private func soakRound(until end: UInt64, seed: UInt64) throws -> [BackendSoak.Note] {
        let run = self
        let notes = Mutex<[BackendSoak.Note]>([])
        try Threads().run(Self.workers) { number in
            var copy = run
            copy.random.state = seed &+ UInt64(number)
            // Half of the threads are those of the other process.
            if number.isMultiple(of: 2) { (copy.backend, copy.other) = (run.other, run.backend) }
            let made = try BackendSoak(copy).work(until: end)
            notes.withLock { $0 += made }
        }
        return notes.withLock { $0 }
    }
}

extension RecordHistory.Call {
    /// The state that a reading found, as the initial one of later calls.
    package var asState: RecordHistory.Call {
        RecordHistory.Call(sequence == 0 ? .remove : .put, 0, 0, sequence: sequence, mark: mark)
    }
}
