import CryptoPrimitives
import Sealing
import Synchronization
import TestSupport
import Testing

/// The error of a faulty source or sink.
struct TestFailure: Error, Equatable {}

/// A source that fails once after this number of bytes, and continues afterwards.
final class FaultySource: Sendable {
    private struct State {
        var position = 0
        var hasFailed = false
        var readsAfterFailure = 0
    }

    private let bytes: [UInt8]
    private let failsAfter: Int
    private let state = Mutex(State())

    init(_ bytes: [UInt8], failsAfter: Int) {
        self.bytes = bytes
        self.failsAfter = failsAfter
    }

    var readsAfterFailure: Int { state.withLock(\.readsAfterFailure) }

    @Sendable func read(_ buffer: UnsafeMutableRawBufferPointer) throws(TestFailure) -> Int {
        try state.withLock { state throws(TestFailure) in
            if state.hasFailed { state.readsAfterFailure += 1 }
            if !state.hasFailed && state.position == failsAfter {
                state.hasFailed = true
                throw TestFailure()
            }
            let end = state.hasFailed ? bytes.count : min(bytes.count, failsAfter)
            let count = min(buffer.count, end - state.position)
            buffer.copyBytes(from: bytes[state.position..<state.position + count])
            state.position += count
            return count
        }
    }
}

/// A sink that fails at one call and counts them all.
final class FaultySink: Sendable {
    private let failsAt: Int
    private let state = Mutex((calls: 0, bytes: [UInt8]()))

    init(failsAt: Int) { self.failsAt = failsAt }

    var calls: Int { state.withLock(\.calls) }
    var bytes: [UInt8] { state.withLock(\.bytes) }

    @Sendable func write(_ buffer: UnsafeRawBufferPointer) throws(TestFailure) {
        try state.withLock { state throws(TestFailure) in
            state.calls += 1
            if state.calls == failsAt + 1 { throw TestFailure() }
            state.bytes += buffer
        }
    }
}

func expectInput(
    sourceLocation: SourceLocation = #_sourceLocation, _ body: () throws(StreamFailure<TestFailure>) -> Void
) {
    do throws(StreamFailure<TestFailure>) {
        try body()
        Issue.record("It did not fail.", sourceLocation: sourceLocation)
    } catch {
        if case .input = error { return }
        Issue.record("It failed as \(error).", sourceLocation: sourceLocation)
    }
}

func expectOutput(
    sourceLocation: SourceLocation = #_sourceLocation, _ body: () throws(StreamFailure<TestFailure>) -> Void
) {
    do throws(StreamFailure<TestFailure>) {
        try body()
        Issue.record("It did not fail.", sourceLocation: sourceLocation)
    } catch {
        if case .output = error { return }
        Issue.record("It failed as \(error).", sourceLocation: sourceLocation)
    }
}

/// A stream with a fixed salt, sealed in one step, for comparison.
struct SeededStream {
    static let context = BlobContext(group: "group.com.example.app", kind: .stream, name: "")
    static let salt = Salt(bytes: Bytes32(filling: { $0.copyBytes(from: 0..<32) }))

    let key: SealingKey
    let blob: [UInt8]
    let description = BlobDescription(stream: Self.context, sealedAt: 1)

    init(_ plaintext: [UInt8]) throws {
        let key = try SealingKey.random(epoch: 1)
        let description = description
        self.key = key
        blob = plaintext.withRawBytes { BlobSealer.seal($0, as: description, key: key, fixedSalt: Self.salt) }
    }

    /// Returns bytes that differ in every chunk.
    static func plaintext(_ size: Int) -> [UInt8] {
        [UInt8](unsafeUninitializedCapacity: size) { buffer, count in
            var random = SeededGenerator(seed: 1)
            let bytes = UnsafeMutableRawBufferPointer(buffer)
            for place in stride(from: 0, to: size - 7, by: 8) {
                bytes.storeBytes(of: random.next(), toByteOffset: place, as: UInt64.self)
            }
            for place in size / 8 * 8..<size { buffer[place] = UInt8(place % 251) }
            count = size
        }
    }
}
