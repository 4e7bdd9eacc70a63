import CryptoPrimitives
import Dispatch
import Glibc
import GroupIPC
import SealedState
import Synchronization

private struct Question: Codable, Sendable {
    var item = "handed/6F9619FF-8B86-D011-B42D-00CF4FC964FF.jpg"
}

private struct Answer: Codable, Sendable {
    var title = "A picture from the lake"
    var price = 3
}

/// A request and its reply, against a round trip of as many sealed bytes through a socket between two threads of this
/// process. The peer wakes two threads and seals and opens twice, as both ends of a channel do; it has no tasks, no
/// values, and one connection, for which a thread is blocked. A channel between two processes wakes as many threads as
/// this one, whose ends share their threads.
struct ChannelBenchmarks {
    /// The calls of one measurement.
    private static let calls = 100
    private let workspace: Workspace
    private let store: SealedStore

    /// - Parameter workspace: A separate one, which is removed with this value.
    init(_ workspace: Workspace) throws {
        self.workspace = workspace
        store = try workspace.openStore()
    }

    func run(in runner: inout Runner) throws {
        let rounds = runner.options.rounds
        try runner.measure("ask through a channel") { operation in
            let listener = try store.channelListener("bench")
            let serving = Task { try? await listener.serve { (_: Question, _) in Answer() } }
            let channel = try store.channel("bench")
            let plain = try SealedSocketPair(size: 64)
            defer { plain.end() }
            let comparison = try Comparison(
                rounds: rounds,
                ours: {
                    try Self.wait {
                        for _ in 0..<Self.calls { let _: Answer = try await channel.call(Question()) }
                    }
                },
                peer: { for _ in 0..<Self.calls { try plain.roundTrip() } }, calls: Self.calls)
            listener.close()
            serving.cancel()
            return Finding(operation, comparison, against: "socket", target: 3, note: "round trip of sealed bytes")
        }
    }

    private static func wait(_ body: @escaping @Sendable () async throws -> Void) throws {
        let done = DispatchSemaphore(value: 0)
        let failure = Mutex<(any Error)?>(nil)
        Task {
            do { try await body() } catch { failure.withLock { $0 = error } }
            done.signal()
        }
        done.wait()
        if let failure = failure.withLock({ $0 }) { throw failure }
    }
}

/// Two threads that exchange sealed bytes through a socket.
private final class SealedSocketPair: Sendable {
    private let ends: (Int32, Int32)
    private let size: Int
    private static let key = [UInt8](repeating: 7, count: 32)
    private static let nonce = [UInt8](repeating: 0, count: 12)

    init(size: Int) throws {
        var ends: [Int32] = [-1, -1]
        guard socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0, &ends) == 0 else {
            throw BenchmarkFailure("no socket")
        }
        self.ends = (ends[0], ends[1])
        self.size = size
        let other = ends[1]
        DispatchQueue(label: "echo").async {
            var sealed = [UInt8](repeating: 0, count: size + 16)
            while read(other, &sealed, sealed.count) == sealed.count {
                guard let plain = try? Self.open(sealed) else { return }
                sealed = Self.seal(plain)
                guard write(other, sealed, sealed.count) == sealed.count else { return }
            }
        }
    }

    func roundTrip() throws {
        var sealed = Self.seal([UInt8](repeating: 1, count: size))
        guard write(ends.0, sealed, sealed.count) == sealed.count,
            read(ends.0, &sealed, sealed.count) == sealed.count
        else { throw BenchmarkFailure("the socket ended") }
        _ = try Self.open(sealed)
    }

    func end() { for end in [ends.0, ends.1] { shutdown(end, Int32(SHUT_RDWR)) } }

    private static func seal(_ plain: [UInt8]) -> [UInt8] {
        var sealed = [UInt8](repeating: 0, count: plain.count + 16)
        plain.withUnsafeBytes { plain in
            key.withUnsafeBytes { key in
                nonce.withUnsafeBytes { nonce in
                    sealed.withUnsafeMutableBytes {
                        ChaCha20Poly1305.seal(
                            plain, associated: UnsafeRawBufferPointer(start: nil, count: 0), nonce: nonce, key: key,
                            into: $0)
                    }
                }
            }
        }
        return sealed
    }

    private static func open(_ sealed: [UInt8]) throws -> [UInt8] {
        var plain = [UInt8](repeating: 0, count: sealed.count - 16)
        try sealed.withUnsafeBytes { sealed in
            try key.withUnsafeBytes { key in
                try nonce.withUnsafeBytes { nonce in
                    try plain.withUnsafeMutableBytes {
                        try ChaCha20Poly1305.open(
                            sealed, associated: UnsafeRawBufferPointer(start: nil, count: 0), nonce: nonce, key: key,
                            into: $0)
                    }
                }
            }
        }
        return plain
    }
}
