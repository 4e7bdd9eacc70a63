internal import Dispatch
internal import SealedBackends
internal import SharedFiles
internal import Synchronization

/// One run of a check: the backend, a second view of its data, and what was decided at random.
struct BackendRun {
    let subject: BackendSubject
    var backend: any SealedBackend
    /// The same data as another process sees them.
    var other: any SealedBackend
    var random: SplitMix64

    init(_ subject: BackendSubject, seed: UInt64) throws {
        self.subject = subject
        backend = try subject.make()
        other = try subject.reopen?(backend) ?? backend
        random = SplitMix64(state: seed)
    }

    mutating func perform(_ check: BackendCheck) throws -> BackendCheck.Outcome {
        switch check {
        case .model: try model()
        case .conditions: try conditions()
        case .races: return try races()
        case .batches: return try batches()
        case .sizes: try sizes()
        case .names: try names()
        case .scans: try scans()
        case .hostileBytes: try hostileBytes()
        case .heldBlobs: try heldBlobs()
        case .changes: try changes()
        case .cursors: try cursors()
        case .removal: return try removal()
        case .settling: try settling()
        case .preservation: try preservation()
        case .powerLoss: return try powerLoss()
        case .soak: return try soak()
        }
        return .passed
    }
}

// MARK: Blobs and calls

extension BackendRun {
    /// Returns a blob with a random header; the rest repeats a number, so that a mixture of two is noticed.
    mutating func blob(size: Int? = nil) -> [UInt8] { blob(size: size, using: &random) }

    func blob(size: Int? = nil, using random: inout some RandomNumberGenerator) -> [UInt8] {
        let size = size ?? Int.random(in: 176...5000, using: &random)
        var blob = [UInt8](repeating: UInt8.random(in: .min ... .max, using: &random), count: size)
        for index in 0..<min(size, BlobHead.size) { blob[index] = UInt8.random(in: .min ... .max, using: &random) }
        return blob
    }

    static func isWhole(_ blob: [UInt8]) -> Bool {
        let body = blob.dropFirst(BlobHead.size)
        return body.allSatisfy { $0 == body.first }
    }

    func require(_ isKept: Bool, _ reason: @autoclosure () -> String) throws {
        if !isKept { throw BackendFault(nil, 0, reason()) }
    }

    /// Repeats a call while the backend fails without a change; a backend in a test may do so at random.
    func retrying<Result>(_ body: () throws -> Result) throws -> Result {
        for _ in 0..<1000 {
            do { return try body() } catch let error as BackendError where error.code == .io { continue }
        }
        return try body()
    }

    /// Commits, and settles an outcome that is unknown.
    ///
    /// - Returns: `false` if nothing was written.
    func commit(_ writes: [BackendWrite], _ durability: Durability = .unsynced) throws -> Bool {
        do { try retrying { try backend.commit(writes, durability: durability) } } catch let error as BackendError
            where error.code == .indeterminate
        {
            let made = try writes.map { write in try isMade(write) }
            try require(Set(made.compactMap { $0 }).count <= 1, "A batch with an unknown outcome was made in part.")
            return made.compactMap { $0 }.first ?? true
        }
        return true
    }

    /// Commits until the writes are made.
    func make(_ writes: [BackendWrite], _ durability: Durability = .unsynced) throws {
        for _ in 0..<1000 { if try commit(writes, durability) { return } }
        throw BackendFault(nil, 0, "A commit had an unknown outcome 1000 times, and was not made.")
    }

    /// Returns whether a write was made, by its settled head; nil if that cannot be seen.
    private func isMade(_ write: BackendWrite) throws -> Bool? {
        let head = try retrying { try backend.settle(write.key) }
        return switch write.change {
        case .put(let blob): head?.version == BlobVersion(of: blob)
        case .remove: write.condition == .absent ? nil : head == nil
        case .nothing: nil
        }
    }

    func code(_ body: () throws -> Void) throws -> BackendError.Code? {
        do { try retrying(body) } catch let error as BackendError { return error.code }
        return nil
    }

    func read(_ key: BackendKey, limit: Int = .max) throws -> [UInt8]? {
        try retrying { try backend.read(key, limit: limit)?.bytes }
    }

    /// Compares every way to see a record with the expected blob.
    func expect(_ blob: [UInt8]?, at key: BackendKey) throws {
        for (view, name) in [(backend, "the writer"), (other, "another program")] {
            let head = try retrying { try view.head(key) }
            try require(
                head?.bytes == blob.map { Array($0.prefix(176)) },
                "\(name) sees another head of \(key) than that of the blob that was committed last.")
            let held = try retrying { try view.read(key, limit: .max) }
            try require(
                held?.bytes == blob, "\(name) reads another blob of \(key) than the one that was committed last.")
        }
    }
}

// MARK: One writer

extension BackendRun {
    mutating func model() throws {
        var model: [BackendKey: [UInt8]] = [:]
        let keys = (0..<12).map { BackendKey("r\($0 % 3)/n\($0)") }
        for step in 0..<300 {
            let key = keys[Int.random(in: 0..<keys.count, using: &random)]
            let durability: Durability = Int.random(in: 0..<10, using: &random) == 0 ? .durable : .unsynced
            let new = Int.random(in: 0..<4, using: &random) == 0 ? nil : blob()
            let write = BackendWrite(key, new.map { .put($0) } ?? .remove, if: condition(model[key]))
            if try commit([write], durability) { model[key] = new }
            try expect(model[key], at: key)
            if step % 50 == 0 { try expect(model) }
        }
        try expect(model)
    }

    func condition(_ blob: [UInt8]?) -> BackendWrite.Condition { blob.map { .version(BlobVersion(of: $0)) } ?? .absent }

    /// Compares the list with the expected blobs.
    private func expect(_ model: [BackendKey: [UInt8]]) throws {
        let heads = try retrying { try other.scan("", after: nil, limit: .max) }
        try require(heads.map(\.key) == model.keys.sorted(), "A list has other names than were committed.")
        for head in heads {
            try require(
                head.bytes == model[head.key].map { Array($0.prefix(176)) }, "A list has another head of \(head.key).")
        }
    }

    mutating func conditions() throws {
        let key = BackendKey("note")
        let (first, second) = (blob(), blob())
        if !backend.traits.comparesConditions {
            // The store examines them under the record's lock.
            try require(try commit([BackendWrite(key, .put(first))]), "A commit was not made.")
            return try expect(first, at: key)
        }
        let wrong: [BackendWrite.Condition] = [.version(BlobVersion(of: second))]
        for condition in wrong {
            try refuse(BackendWrite(key, .put(first), if: condition), "there is no blob")
            try refuse(BackendWrite(key, .remove, if: condition), "there is no blob")
        }
        try expect(nil, at: key)
        try make([BackendWrite(key, .put(first), if: .absent)])
        for condition in wrong + [.absent] {
            try refuse(BackendWrite(key, .put(second), if: condition), "another blob is stored")
            try refuse(BackendWrite(key, .remove, if: condition), "another blob is stored")
            try refuse(BackendWrite(key, .nothing, if: condition), "another blob is stored")
            try expect(first, at: key)
        }
        try make([BackendWrite(key, .put(second), if: .version(BlobVersion(of: first)))])
        try refuse(BackendWrite(key, .put(first), if: .version(BlobVersion(of: first))), "it is the former version")
        try expect(second, at: key)
    }

    private func refuse(_ write: BackendWrite, _ why: String) throws {
        // A commit whose answer is lost is settled; it must not have been made.
        for _ in 0..<1000 {
            switch try code({ try backend.commit([write], durability: .unsynced) }) {
            case .conflict: return
            case .indeterminate: _ = try retrying { try backend.settle(write.key) }
            case let other:
                throw BackendFault(
                    nil, 0,
                    "A write whose condition does not hold (\(why)) was answered with "
                        + "\(other?.rawValue ?? "success").")
            }
        }
        throw Self.undecided
    }

    /// The fault of a backend that refuses nothing.
    static var undecided: BackendFault {
        BackendFault(nil, 0, "A write whose condition does not hold had an unknown outcome 1000 times.")
    }

    /// The largest blob that is written, and the largest limit that is exceeded: it takes that much memory.
    private static let (largestWrite, largestLimit) = (64 << 20, 512 << 20)

    mutating func sizes() throws {
        let limit = backend.traits.largestBlob
        let key = BackendKey("size")
        for size in [0, 1, 31, 175, 176, 177, 4096, 65_552, 1 << 20, min(limit, Self.largestWrite)] where size <= limit
        {
            let new = blob(size: size)
            try make([BackendWrite(key, .put(new))])
            try expect(new, at: key)
            try require(try read(key, limit: size) == new, "A blob of exactly the limit, \(size) bytes, was refused.")
            guard size > 0 else { continue }
            try require(
                try code { _ = try backend.read(key, limit: size - 1) } == .tooLarge,
                "A blob of \(size) bytes was read with a limit of \(size - 1).")
        }
        guard limit <= Self.largestLimit else { return }
        let kept = try read(key)
        let write = BackendWrite(key, .put([UInt8](repeating: 1, count: limit + 1)))
        try require(
            try code { try backend.commit([write], durability: .unsynced) } == .tooLarge,
            "A blob of one byte over the largest size, \(limit) bytes, was not refused.")
        try expect(kept, at: key)
    }

    mutating func names() throws {
        let segment = String(repeating: "s", count: 200)
        let deep = Array(repeating: "d", count: 8).joined(separator: "/")
        let long = "\(segment)/\(segment)/" + String(repeating: "t", count: 110)
        let names =
            ["a", "A", "a.b", "a/b", "a_b", "a-b", "aa", "_sealed/leases/x", "0", "a/b/c.d"] + [segment, deep, long]
        var blobs: [BackendKey: [UInt8]] = [:]
        for name in names {
            let (key, new) = (BackendKey(name), blob())
            try make([BackendWrite(key, .put(new))])
            blobs[key] = new
        }
        try expect(blobs)
        for (key, blob) in blobs { try expect(blob, at: key) }
        for key in blobs.keys.sorted() {
            try make([BackendWrite(key, .remove)])
            blobs[key] = nil
            try expect(blobs)
        }
    }

    mutating func scans() throws {
        var names: [String] = []
        for number in 0..<120 {
            names.append(
                ["a/", "a", "b/c/", "zz."][number % 4] + String(Int.random(in: 0..<1_000_000, using: &random)))
        }
        names = Array(Set(names))
        for name in names { try make([BackendWrite(BackendKey(name), .put(blob()))]) }
        for prefix in ["", "a", "a/", "b/c/", "zz.", "none"] {
            let expected = names.filter { $0.hasPrefix(prefix) }.map { BackendKey($0) }.sorted()
            for limit in [1, 7, 50, 1000] {
                try require(
                    try pages(prefix, limit) == expected, "Pages of \(limit) below '\(prefix)' are not the whole list.")
            }
        }
        try require(try retrying { try backend.scan("", after: nil, limit: 0) }.isEmpty, "A page of 0 has entries.")
    }

    private func pages(_ prefix: String, _ limit: Int) throws -> [BackendKey] {
        var keys: [BackendKey] = []
        while true {
            let page = try retrying { try backend.scan(prefix, after: keys.last, limit: limit) }
            keys += page.map(\.key)
            if page.count < limit || keys.count > 10_000 { return keys }
        }
    }

    mutating func hostileBytes() throws {
        let key = BackendKey("hostile")
        var last: [UInt8]?
        let texts = ["", "\0", "SEAL", "SQLite format 3\0", "'; DROP TABLE record; --", "../../etc/passwd\n"]
        let hostile =
            texts.map { Array($0.utf8) }
            + [[UInt8](repeating: 0, count: 176), [UInt8](repeating: 0xFF, count: 177)]
        for bytes in hostile + (0..<20).map({ blob(size: $0 * 13) }) {
            try make([BackendWrite(key, .put(bytes), if: condition(last))])
            try expect(bytes, at: key)
            try require(
                try retrying { try backend.scan("", after: nil, limit: 10) }.map(\.version)
                    == [BlobVersion(of: bytes)], "A list has another version of a blob without a header.")
            last = bytes
        }
    }

    mutating func heldBlobs() throws {
        let key = BackendKey("held")
        let (first, second) = (blob(), blob())
        try make([BackendWrite(key, .put(first))])
        let held = try retrying { try other.read(key, limit: .max) }
        guard let held else { throw BackendFault(nil, 0, "A committed blob was not found.") }
        try require(held.bytes == first && held.isCurrent, "A blob that was just read is not current.")
        try make([BackendWrite(key, .put(second))])
        try require(held.bytes == first, "A held blob changed with the record.")
        try require(!held.isCurrent, "A blob that was replaced is called current.")
        let present = try retrying { try other.read(key, limit: .max) }
        try make([BackendWrite(key, .remove)])
        try require(present?.isCurrent == false, "A blob that was removed is called current.")
        try make([BackendWrite(key, .put(second))])
        try require(!held.isCurrent, "A blob that was replaced long ago is called current.")
    }

    mutating func settling() throws {
        let key = BackendKey("settled")
        try require(try retrying { try backend.settle(key) } == nil, "A record without a blob has a settled head.")
        var known: [UInt8]?
        for _ in 0..<100 {
            let new = blob()
            let answer = try code { try backend.commit([BackendWrite(key, .put(new))], durability: .unsynced) }
            let head = try retrying { try backend.settle(key) }
            let present = try read(key)
            try require(head?.bytes == present.map { Array($0.prefix(176)) }, "A settled head is not that of the blob.")
            switch answer {
            case nil: try require(present == new, "A commit that succeeded was undone by settling.")
            case .indeterminate:
                try require(present == new || present == known, "Settling brought a blob that was not committed.")
            case .some: try require(present == known, "A commit that failed was made.")
            }
            known = present
            // Decided means decided: nothing comes later.
            for _ in 0..<3 { try require(try read(key) == known, "A settled record changed by itself.") }
        }
    }

    mutating func preservation() throws {
        let key = BackendKey("kept")
        let (first, second) = (blob(size: 500), blob(size: 500))
        try require(
            try code { _ = try backend.preserve(key, reason: "a test", limit: 500) } == .gone,
            "A copy of a record without a blob was not refused.")
        try make([BackendWrite(key, .put(first))])
        let beyond = try preserve(key, limit: 499)
        let name = try preserve(key, limit: 500)
        try require(name != nil, "The first copy was not kept.")
        // A backend that needs no copy of the bytes has kept it at once.
        try require(beyond == nil || beyond == name, "Another copy was kept than that of the whole blob.")
        try require(try preserve(key, limit: 500) == name, "The same blob was kept twice.")
        try expect(first, at: key)
        try make([BackendWrite(key, .put(second))])
        let other = try preserve(key, limit: 500)
        try require(other != nil && other != name, "Another blob has the copy's name.")
        try require(
            try retrying { try backend.scan("", after: nil, limit: 10) }.map(\.key) == [key],
            "A copy is listed as a record.")
        for _ in 2..<1000 {
            let new = blob(size: 300)
            try make([BackendWrite(key, .put(new))])
            if try preserve(key, limit: 500) == nil { return }
        }
        throw BackendFault(nil, 0, "A record may have any number of copies: they would fill the disk.")
    }

    /// - Returns: The copy's name; nil if nothing was kept.
    private func preserve(_ key: BackendKey, limit: Int) throws -> String? {
        do { return try retrying { try backend.preserve(key, reason: "tampered: a test", limit: limit) } } catch let
            error as BackendError where error.code == .tooLarge
        {
            try require(limit < 500, "A copy of exactly the limit was refused.")
            return nil
        }
    }
}
