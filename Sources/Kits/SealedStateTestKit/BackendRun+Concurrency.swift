internal import Dispatch
internal import SealedBackends
internal import SharedFiles
internal import Synchronization

// Several writers, several records, and losses of power.
extension BackendRun {
    /// Each writer replaces the version that it has read, and counts: no increment may be lost.
    mutating func races() throws -> BackendCheck.Outcome {
        guard backend.traits.comparesConditions || subject.exclude != nil else {
            return .notTested("The backend relies on the records' locks, and the subject has none.")
        }
        let (key, writers, rounds) = (BackendKey("counter"), 4, 40)
        let seeds = (0..<writers).map { _ in random.next() }
        let run = self
        try Threads().run(writers + 1) { number in
            if number == writers { return try run.watch(key, 200) }
            var random = SplitMix64(state: seeds[number])
            for _ in 0..<rounds { try run.increment(key, &random, number.isMultiple(of: 2) ? run.backend : run.other) }
        }
        let last = try read(key)
        try require(
            last.map(Self.count) == writers * rounds,
            "\(writers * rounds) increments were acknowledged, and the counter is \(last.map(Self.count) ?? 0).")
        return .passed
    }

    /// A reader of a counter: it never falls, and no blob is a mixture of two.
    private func watch(_ key: BackendKey, _ times: Int) throws {
        var last = 0
        for _ in 0..<times {
            guard let blob = try retrying({ try other.read(key, limit: .max) })?.bytes else { continue }
            try require(Self.isWhole(Array(blob.dropLast(8))), "A reader saw parts of two blobs.")
            let count = Self.count(blob)
            try require(count >= last, "A reader saw \(count) after \(last).")
            last = count
        }
    }

    private static func count(_ blob: [UInt8]) -> Int { blob.suffix(8).reduce(0) { $0 << 8 | Int($1) } }

    private func increment(
        _ key: BackendKey, _ random: inout SplitMix64, _ backend: any SealedBackend
    ) throws {
        while true {
            var isMade = false
            let size = 176 + Int.random(in: 0..<3000, using: &random)
            let body = blob(size: size, using: &random)
            // The writers meet between a reading and its write.
            let isSlow = Int.random(in: 0..<4, using: &random) == 0
            let attempt = {
                let known = try self.retrying { try backend.read(key, limit: .max)?.bytes }
                if isSlow { pause(.microseconds(20)) }
                let count = known.map(Self.count) ?? 0
                let new = body + withUnsafeBytes(of: UInt64(count + 1).bigEndian) { Array($0) }
                isMade = try self.write(BackendWrite(key, .put(new), if: self.condition(known)), with: backend)
            }
            if let exclude = subject.exclude { try exclude(key, attempt) } else { try attempt() }
            if isMade { return }
        }
    }

    /// - Returns: `false` after a conflict, or if a commit with an unknown outcome was not made.
    private func write(_ write: BackendWrite, with backend: any SealedBackend) throws -> Bool {
        switch try code({ try backend.commit([write], durability: .unsynced) }) {
        case nil: return true
        case .conflict: return false
        case .indeterminate:
            // Others write on: the blob may have been replaced since, so it is looked for in the chain of counts.
            guard case .put(let blob) = write.change else { return false }
            let head = try retrying { try backend.settle(write.key) }
            if head?.version == BlobVersion(of: blob) { return true }
            let present = try retrying { try backend.read(write.key, limit: .max)?.bytes }
            try require(
                present.map(Self.count) ?? 0 < Self.count(blob) || subject.exclude == nil,
                "Another writer wrote in spite of the lock.")
            throw BackendFault(nil, 0, "This check cannot judge a commit with an unknown outcome and other writers.")
        case .some(let code): throw BackendFault(nil, 0, "A commit failed with \(code.rawValue).")
        }
    }

    mutating func batches() throws -> BackendCheck.Outcome {
        let limit = backend.traits.batchLimit
        guard limit > 1 else { return .notTested("The backend makes one write at a time.") }
        let keys = (0..<min(limit, 8)).map { BackendKey("batch\($0)") }
        var known: [UInt8]?
        for _ in 0..<30 {
            let new = blob()
            if try commit(keys.map { BackendWrite($0, .put(new), if: condition(known)) }) { known = new }
            for key in keys { try expect(known, at: key) }
            // One condition that does not hold keeps all writes away.
            let odd = Int.random(in: 0..<keys.count, using: &random)
            let wrong = blob()
            let writes = keys.enumerated().map { index, key in
                BackendWrite(
                    key, index.isMultiple(of: 2) ? .put(wrong) : .remove,
                    if: index == odd ? .version(BlobVersion(of: wrong)) : .any)
            }
            try refuse(writes, at: odd)
            for key in keys { try expect(known, at: key) }
        }
        try require(
            try code {
                try backend.commit(
                    (0...limit).map { BackendWrite(BackendKey("b\($0)"), .put([1])) }, durability: .unsynced)
            } == .unsupported, "A batch over the limit of \(limit) was not refused.")
        return try readersSeeWholeBatches(keys)
    }

    private func refuse(_ writes: [BackendWrite], at odd: Int) throws {
        for _ in 0..<1000 {
            do { try retrying { try backend.commit(writes, durability: .unsynced) } } catch let error as BackendError {
                if error.code == .indeterminate {
                    for write in writes { _ = try retrying { try backend.settle(write.key) } }
                    continue
                }
                try require(
                    error.code == .conflict && error.index == odd,
                    "A batch whose write \(odd) has a wrong condition was answered with \(error.code.rawValue), "
                        + "index \(error.index.map(String.init) ?? "none").")
                return
            }
            throw BackendFault(nil, 0, "A batch with a condition that does not hold was made.")
        }
        throw Self.undecided
    }

    /// A list is one look at the data: it has all writes of a batch or none.
    private mutating func readersSeeWholeBatches(_ keys: [BackendKey]) throws -> BackendCheck.Outcome {
        let blobs = (0..<40).map { _ in blob(size: 200) }
        let run = self
        try Threads().run(2) { number in
            if number == 0 {
                for blob in blobs { try run.make(keys.map { BackendWrite($0, .put(blob)) }) }
            } else {
                for _ in 0..<200 {
                    let heads = try run.retrying { try run.other.scan("batch", after: nil, limit: 100) }
                    try run.require(
                        Set(heads.map(\.version)).count <= 1, "A list shows a part of a batch.")
                }
            }
        }
        return .passed
    }

    /// After a loss of power each record has the blob of its last durable commit, or of a later one.
    mutating func powerLoss() throws -> BackendCheck.Outcome {
        guard let losePower = subject.losePower else {
            return .notTested("The subject cannot lose power: its durability is not tested.")
        }
        let keys = (0..<6).map { BackendKey("p\($0)") }
        var possible: [BackendKey: [[UInt8]?]] = [:]
        for _ in 0..<60 {
            let key = keys[Int.random(in: 0..<keys.count, using: &random)]
            let isRemoval = Int.random(in: 0..<5, using: &random) == 0
            let new = isRemoval ? nil : blob()
            let durability: Durability = Int.random(in: 0..<3, using: &random) == 0 ? .durable : .unsynced
            guard try commit([BackendWrite(key, new.map { .put($0) } ?? .remove)], durability) else { continue }
            possible[key] = durability == .durable ? [new] : possible[key, default: [nil]] + [new]
            if Int.random(in: 0..<8, using: &random) == 0 {
                _ = try retrying { try backend.settle(key) }
                if new != nil { possible[key] = [new] }
            }
        }
        let after = try losePower(backend)
        for key in keys {
            let found = try retrying { try after.read(key, limit: .max)?.bytes }
            try require(
                possible[key, default: [nil]].contains(found),
                "After a loss of power \(key) has neither its last durable blob nor a later one.")
        }
        return .passed
    }
}

/// Threads that run at the same time, and their first failure.
final class Threads: Sendable {
    private let failure = Mutex<(any Error)?>(nil)

    func run(_ count: Int, _ body: @escaping @Sendable (Int) throws -> Void) throws {
        let threads = DispatchGroup()
        for number in 0..<count {
            // A queue of its own has a thread of its own.
            DispatchQueue(label: "SealedState.check.\(number)").async(group: threads) { [self] in
                do { try body(number) } catch { failure.withLock { $0 = $0 ?? error } }
            }
        }
        threads.wait()
        if let error = failure.withLock({ $0 }) { throw error }
    }
}
