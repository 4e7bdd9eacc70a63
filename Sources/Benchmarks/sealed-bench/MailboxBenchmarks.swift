import AppGroups
import FoundationEssentials
import Glibc
import SealedState
import SharedFiles

/// A message of the usual size.
private struct HandedItem: SealedRecord {
    static let recordName = "handed"
    static let schemaVersion = 1
    var title = "A picture from the lake"
    var picture = "handed/6F9619FF-8B86-D011-B42D-00CF4FC964FF.jpg"
    var from = "com.example.app.share"
}

/// Sending against an append and a sync of as many bytes, taking and acknowledging, opening beside many messages, and
/// what handled messages leave behind.
struct MailboxBenchmarks {
    private static let waiting = 10_000
    private static let handled = 100_000
    private static let taken = 100
    private let workspace: Workspace
    private let store: SealedStore

    /// - Parameter workspace: A separate one, which is removed with this value.
    init(_ workspace: Workspace) throws {
        self.workspace = workspace
        store = try workspace.openStore()
    }

    private func mailbox(_ name: String) throws -> SealedStore.Mailbox<HandedItem> {
        var options = SealedStore.MailboxOptions()
        options.maximumWaiting = .max / 2
        return try store.mailbox(of: HandedItem.self, named: name, as: "bench", options: options)
    }

    func run(in runner: inout Runner) throws {
        try send(in: &runner, "send a message, durable", .durable, target: 1.3)
        try send(in: &runner, "send a message, unsynced", .unsynced, target: nil)
        try take(in: &runner)
        try open(in: &runner)
        try grow(in: &runner)
    }

    private func send(
        in runner: inout Runner, _ operation: String, _ durability: Durability, target: Double?
    ) throws {
        let rounds = runner.options.rounds
        try runner.measure(operation) { operation in
            let box = try mailbox("sent")
            let path = "\(store.containerPath)/Mailboxes/sent/bench.1.sealed"
            try box.send(HandedItem())
            let before = try size(of: path)
            try box.send(HandedItem())
            let frame = [UInt8](repeating: 0x5A, count: max(1, try size(of: path) - before))
            let flags = O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC
            let file = Descriptor(
                owning: Glibc.open("\(store.containerPath)/peer", flags, 0o600), path: "the peer's file")
            let comparison = try Comparison(
                rounds: rounds, slice: durability == .durable ? 0.01 : 0.002,
                ours: { try box.send(HandedItem(), durability: durability) },
                peer: {
                    try frame.withUnsafeBytes { try file.write($0) }
                    if durability == .durable, fdatasync(file.rawValue) < 0 { throw BenchmarkFailure("no sync") }
                })
            return Finding(
                operation, comparison, against: "append", target: target,
                note: durability == .durable ? "append and sync" : "append")
        }
    }

    private func size(of path: String) throws -> Int {
        var facts = stat()
        guard stat(path, &facts) == 0 else { return 0 }
        return facts.st_size
    }

    private func take(in runner: inout Runner) throws {
        let rounds = runner.options.rounds
        try runner.measure("take and acknowledge a message, in hundreds") { operation in
            let box = try mailbox("taken")
            var times: [Times] = []
            for _ in 0..<rounds {
                for _ in 0..<100 { try box.send(HandedItem(), durability: .unsynced) }
                times.append(
                    try Stopwatch.times {
                        let taken = try box.take()
                        guard taken.count == 100 else { throw BenchmarkFailure("messages were lost") }
                        try box.acknowledge(taken)
                    })
            }
            return Finding(operation, times.median / 100, note: "one durable write for each hundred")
        }
    }

    private func open(in runner: inout Runner) throws {
        let rounds = runner.options.rounds
        try runner.measure("open a mailbox beside 10,000 messages") { operation in
            let box = try mailbox("waiting")
            for _ in 0..<Self.waiting { try box.send(HandedItem(), durability: .unsynced) }
            var times: [Times] = []
            for _ in 0..<rounds {
                times.append(
                    try Stopwatch.times {
                        let reader = try mailbox("waiting")
                        guard try reader.take(upTo: 1).count == 1 else { throw BenchmarkFailure("nothing waits") }
                        reader.close()
                    })
            }
            return Finding(operation, times.median, target: 0.05, note: "with a lease and the first message")
        }
    }

    private func grow(in runner: inout Runner) throws {
        try runner.measure("growth of a container by 100,000 handled messages") { operation in
            let box = try mailbox("handled")
            let before = try contentsSize()
            for _ in 0..<Self.handled / Self.taken {
                try Interruption.check()
                for _ in 0..<Self.taken { try box.send(HandedItem(), durability: .unsynced) }
                let messages = try box.take()
                guard messages.count == Self.taken else { throw BenchmarkFailure("messages were lost") }
                try box.acknowledge(messages)
            }
            return Finding(operation, Double(try contentsSize() - before), .bytes, target: 65_536)
        }
    }

    /// Returns the size of all files of the container in bytes.
    private func contentsSize() throws -> Int {
        let paths = try FileManager.default.subpathsOfDirectory(atPath: store.containerPath)
        return try paths.reduce(0) { sum, path in
            var facts = stat()
            guard lstat(store.containerPath + "/" + path, &facts) == 0 else {
                throw BenchmarkFailure("\(path): \(String(cString: strerror(errno)))")
            }
            return sum + (facts.st_mode & S_IFMT == S_IFREG ? facts.st_size : 0)
        }
    }
}
