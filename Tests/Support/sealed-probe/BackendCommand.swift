internal import AppGroups
internal import Dispatch
internal import Glibc
internal import SealedBackends
internal import SealedState
internal import SealedStateSQLite
internal import SealedStateTestKit
internal import SharedFiles
internal import Synchronization

// Commands on a backend without a store. KIND is `files` or `sqlite`; the group's container exists.

/// `backend-batches KIND HOME GROUP FIRST COUNT KEYS durable|unsynced|mixed [OPENINGS]`: commits batches with the numbers
/// from FIRST on, each of which writes its number to KEYS keys; without end if COUNT is 0.
///
/// Prints `made NUMBER durable|unsynced` after each, or `failed NUMBER CODE`. With several OPENINGS the last one writes,
/// as a process does beside others.
func backendBatchesCommand(arguments: [String]) -> Int32 {
    guard arguments.count >= 7, let first = Int(arguments[3]), let count = Int(arguments[4]),
        let keys = Int(arguments[5])
    else { return 64 }
    do {
        let openings = arguments.count > 7 ? Int(arguments[7]) ?? 1 : 1
        let place = try ProbedBackend(arguments)
        let backends = try (0..<openings).map { _ in try place.open() }
        guard let backend = backends.last else { return 64 }
        var number = first
        while count == 0 || number < first + count {
            let durability: Durability =
                switch arguments[6] {
                case "durable": .durable
                case "unsynced": .unsynced
                default: number.isMultiple(of: 3) ? .durable : .unsynced
                }
            let writes = (0..<keys).map { BackendWrite(BackendKey("batch/\($0)"), .put(numberedBlob(number))) }
            do throws(BackendError) {
                try backend.commit(writes, durability: durability)
                say("made \(number) \(durability)")
            } catch {
                say("failed \(number) \(error.code.rawValue)")
            }
            number += 1
        }
        withExtendedLifetime(backends) {}
        return 0
    } catch { return failed(error) }
}

/// Returns a blob that shows its number in the first 8 bytes and, with its size, in all others.
private func numberedBlob(_ number: Int) -> [UInt8] {
    withUnsafeBytes(of: UInt64(number).bigEndian) { Array($0) }
        + [UInt8](repeating: UInt8(truncatingIfNeeded: number), count: 168 + number * 397 % 30_000)
}

/// `backend-threads KIND HOME GROUP THREADS COUNT`: commits COUNT durable blobs on each of THREADS threads at once.
/// Prints `made`.
func backendThreadsCommand(arguments: [String]) -> Int32 {
    guard arguments.count == 5, let threads = Int(arguments[3]), let count = Int(arguments[4]) else { return 64 }
    do {
        let backend = try ProbedBackend(arguments).open()
        let failures = Atomic<Int>(0)
        let group = DispatchGroup()
        for thread in 0..<threads {
            DispatchQueue(label: "thread \(thread)").async(group: group) {
                for number in 0..<count {
                    let write = BackendWrite(BackendKey("t\(thread)"), .put(numberedBlob(number)))
                    do { try backend.commit([write], durability: .durable) } catch {
                        failures.add(1, ordering: .relaxed)
                    }
                }
            }
        }
        group.wait()
        say(failures.load(ordering: .relaxed) == 0 ? "made" : "failed")
        return 0
    } catch { return failed(error) }
}

/// `backend-soak KIND HOME GROUP SEED END THREADS`: makes random calls on each of THREADS threads until the monotonic
/// clock shows END, in nanoseconds. Prints the calls.
func backendSoakCommand(arguments: [String]) -> Int32 {
    guard arguments.count == 6, let seed = UInt64(arguments[3]), let end = UInt64(arguments[4]),
        let threads = Int(arguments[5])
    else { return 64 }
    do {
        let place = try ProbedBackend(arguments)
        let backend = try place.open()
        let lines = Mutex<[String]>([])
        let group = DispatchGroup()
        for thread in 0..<threads {
            DispatchQueue(label: "thread \(thread)").async(group: group) {
                do {
                    let soak = try BackendSoak(backend, seed: seed &+ UInt64(thread), exclude: place.exclude)
                    let notes = try soak.work(until: end).map(\.description)
                    lines.withLock { $0 += notes }
                } catch { lines.withLock { $0.append("failed \(error)") } }
            }
        }
        group.wait()
        lines.withLock { print($0.joined(separator: "\n")) }
        return 0
    } catch { return failed(error) }
}

/// `backend-watch KIND HOME GROUP`: follows the changes, and reads each reported record. Prints `ready`.
///
/// For each line `RECORD SEQUENCE` of its input it waits at most 10 s until the last reading of the record found that
/// sequence, and prints `seen` or `missed SEQUENCE`. At the end of the input it prints all readings.
func backendWatchCommand(arguments: [String]) -> Int32 {
    guard arguments.count == 3 else { return 64 }
    do {
        let soak = try BackendSoak(try ProbedBackend(arguments).open(), seed: 0)
        let readings = Readings()
        try soak.follow(
            begin: { end in
                say("ready")
                DispatchQueue(label: "input").async {
                    while let line = readLine() {
                        let words = line.split(separator: " ")
                        guard words.count == 2, let sequence = UInt64(words[1]) else { break }
                        say(readings.wait(for: sequence, of: String(words[0])))
                    }
                    end()
                }
            }, visit: readings.add)
        readings.notes.withLock { print($0.map(\.description).joined(separator: "\n")) }
        return 0
    } catch { return failed(error) }
}

/// The readings of a follower.
private final class Readings: Sendable {
    let notes = Mutex<[BackendSoak.Note]>([])
    private let last = Mutex<[String: UInt64]>([:])

    @Sendable func add(_ note: BackendSoak.Note) {
        notes.withLock { $0.append(note) }
        last.withLock { $0[note.record] = note.call.sequence }
    }

    func wait(for sequence: UInt64, of record: String) -> String {
        let end = ContinuousClock.now + .seconds(10)
        while true {
            let found = last.withLock { $0[record] }
            // A record that has had no blob all the time is not reported.
            if found == sequence || found == nil && sequence == 0 { return "seen" }
            if ContinuousClock.now > end { return "missed \(sequence), last \(found ?? 0)" }
            pause(.milliseconds(1))
        }
    }
}

/// The backend that the arguments name.
private struct ProbedBackend: Sendable {
    private let kind: String
    private let home: GroupsHome
    private let group: AppGroup
    private let container: GroupContainer

    init(_ arguments: [String]) throws {
        kind = arguments[0]
        home = GroupsHome(root: arguments[1])
        group = try AppGroup(arguments[2])
        container = try GroupContainer.open(group, in: home, creating: false)
    }

    func open() throws -> any SealedBackend {
        if kind == "files" { return try SealedStore(group: group, in: home, creating: false).backend }
        #if SQLite
        return try SQLiteProvider().open(
            BackendPlace(group: group.identifier, directory: container.path, isShared: false))
        #else
        throw BackendError(.unsupported, "open", kind, "The program is built without the trait SQLite.")
        #endif
    }

    /// Takes the record's lock, for a backend that does not compare conditions.
    var exclude: (@Sendable (BackendKey, () throws -> Void) throws -> Void)? {
        guard kind == "files" else { return nil }
        return { [group, container] key, body in
            let path = "Library/Application Support/Records/\(key.name).sealed"
            let lock = try RecordLock.acquire(forFile: path, of: group, in: container, timeout: .seconds(60))
            try body()
            if let lock { lock.unlock() }
        }
    }
}

private func failed(_ error: any Error) -> Int32 {
    say("failed \(error)")
    return 1
}
