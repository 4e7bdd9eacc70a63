import CBaseline
import CryptoPrimitives
import Sealing

/// Sealing and opening in memory, against libsodium called from C.
struct SealingBenchmarks {
    private let context = BlobContext(group: "group.org.example.bench", kind: .record, name: "measured")
    private let key: SealingKey
    private let place: cbaseline_place

    init() throws {
        key = try SealingKey.random(epoch: 1)
        place = cbaseline_place(context, key, schemaVersion: 1)
    }

    func run(in runner: inout Runner) throws {
        try run(in: &runner, name: "128 B", size: 128, target: 1.3)
        try run(in: &runner, name: "64 KiB", size: 65_536, target: 1.05)
    }

    private func run(in runner: inout Runner, name: String, size: Int, target: Double) throws {
        let plaintext = SecureRandom.bytes(count: size)
        let blob = sealOurs(plaintext)
        guard try openOurs(sealPeer(plaintext)) == size, openPeer(blob) == size else {
            throw BenchmarkFailure("the C side does not speak the same format")
        }
        let rounds = runner.options.rounds
        try runner.measure("seal \(name)") { operation in
            let comparison = try Comparison(
                rounds: rounds, ours: { _ = sealOurs(plaintext) },
                peer: { withPeerBlob(plaintext) { _ in } })
            return Finding(operation, comparison, against: "C", target: target)
        }
        try runner.measure("open \(name)") { operation in
            let comparison = try Comparison(
                rounds: rounds, ours: { _ = try openOurs(blob) }, peer: { _ = openPeer(blob) })
            return Finding(operation, comparison, against: "C", target: target)
        }
    }
}

extension SealingBenchmarks {
    @inline(never)
    private func sealOurs(_ plaintext: [UInt8]) -> [UInt8] {
        plaintext.withRawBytes {
            let description = BlobDescription(
                record: context, schemaVersion: 1, sequence: 1, sealedAt: Stopwatch.now() / 1_000_000)
            return BlobSealer.seal($0, as: description, key: key)
        }
    }

    @inline(never)
    private func openOurs(_ blob: [UInt8]) throws -> Int {
        try blob.withRawBytes { blob throws(SealingError) in
            try BlobOpener.open(blob, context: context, keys: key, limit: 1 << 20).plaintext.count
        }
    }

    @inline(never)
    private func withPeerBlob<Result>(_ plaintext: [UInt8], _ body: (UnsafeRawBufferPointer) -> Result) -> Result {
        withUnsafePointer(to: place) { place in
            var size = 0
            let blob = cbaseline_seal(place, 1, plaintext, plaintext.count, &size)
            defer { cbaseline_discard(blob) }
            return body(UnsafeRawBufferPointer(start: blob, count: size))
        }
    }

    private func sealPeer(_ plaintext: [UInt8]) -> [UInt8] { withPeerBlob(plaintext) { Array($0) } }

    @inline(never)
    private func openPeer(_ blob: [UInt8]) -> Int? {
        withUnsafePointer(to: place) { place in
            var size = 0
            guard let plaintext = cbaseline_open(place, blob, blob.count, &size) else { return nil }
            cbaseline_forget(plaintext, size)
            return size
        }
    }
}
