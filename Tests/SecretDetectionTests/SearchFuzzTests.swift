import TestSupport
import Testing

@testable import SecretDetection

/// Tests of random and changed bytes: nothing crashes, matches are in range, and the quick look misses no match of a
/// search. 400 texts; 20,000 with `SEALED_LONG=1` (`make fuzz`).
@Suite struct SearchFuzzTests {
    private static let rounds: UInt64 = isLongForm ? 20_000 : 400

    private static let pieces =
        (SecretSamples.all.map { $0.drawn(seed: 41) } + [
            "password", "\"token\": \"", "\\\"", "://", "@", "eyJ", ".", "-----BEGIN PRIVATE KEY-----", "-----END",
            "\"kty\"", "{", "}", "=", ": ", "\n",
            "<key>secret</key>", "<string>", "\\u0041", "machine ", "login ", "basic ", "sig=", "--password ", "'",
            "\\", "\0", "ÿ",
        ]).map { Array($0.utf8) }

    private static func bytes(_ generator: inout SeededGenerator) -> [UInt8] {
        var bytes: [UInt8] = []
        for _ in 0..<Int.random(in: 0...12, using: &generator) {
            var piece = pieces.randomElement(using: &generator) ?? []
            if Bool.random(using: &generator), !piece.isEmpty {
                let place = piece.indices.randomElement(using: &generator) ?? 0
                switch Int.random(in: 0..<3, using: &generator) {
                case 0: piece[place] = UInt8(truncatingIfNeeded: generator.next())
                case 1: piece.removeSubrange(place...)
                default: piece.removeSubrange(...place)
                }
            }
            bytes += piece
            for _ in 0..<Int.random(in: 0...3, using: &generator) {
                bytes.append(UInt8(truncatingIfNeeded: generator.next()))
            }
        }
        return bytes
    }

    @Test func matchesAreWithinTheTextAndInOrder() {
        for seed in 0..<Self.rounds {
            var generator = SeededGenerator(seed: seed)
            let bytes = Self.bytes(&generator)
            var end = 0
            for match in Found.all(in: bytes) {
                #expect(
                    match.range.lowerBound >= end && !match.range.isEmpty && match.range.upperBound <= bytes.count,
                    "seed \(seed)")
                end = match.range.upperBound
            }
            end = 0
            for run in bytes.withUnsafeBytes({ SecretSearcher.standard.searchAll($0) { _ in } }) {
                #expect(run.range.lowerBound >= end && run.range.upperBound <= bytes.count, "seed \(seed)")
                end = run.range.upperBound
            }
        }
    }

    @Test func gatheringRunsChangesNoMatch() {
        for seed in 0..<Self.rounds {
            var generator = SeededGenerator(seed: seed &+ 2_000_000)
            let bytes = Self.bytes(&generator)
            var matches: [SecretMatch] = []
            _ = bytes.withUnsafeBytes { SecretSearcher.standard.searchAll($0) { matches.append($0) } }
            #expect(matches == Found.all(in: bytes), "seed \(seed)")
        }
    }

    @Test func bytesWithAFoundSecretAreSuspicious() {
        for seed in 0..<Self.rounds {
            var generator = SeededGenerator(seed: seed &+ 1_000_000)
            let bytes = Self.bytes(&generator)
            guard !Found.all(in: bytes).isEmpty else { continue }
            #expect(bytes.withUnsafeBytes { SecretSearcher.standard.isSuspicious($0) }, "seed \(seed)")
        }
    }

    @Test func randomBytesHoldNoSecret() {
        var generator = SeededGenerator(seed: 51)
        let bytes = (0..<1_000_000).map { _ in UInt8(truncatingIfNeeded: generator.next()) }
        #expect(Found.all(in: bytes).isEmpty)
        let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_".utf8)
        #expect(Found.all(in: bytes.map { alphabet[Int($0 & 63)] }).isEmpty)
        #expect(Found.all(in: bytes.map { UInt8(ascii: "0") + $0 % 10 }).isEmpty)
    }
}
