import CryptoPrimitives
import Sealing
import Testing

@testable import KeyVault

@Suite struct WatermarkTests {
    static func commitment(_ byte: UInt8) -> Commitment {
        Commitment(bytes: Bytes32(filling: { $0.initializeMemory(as: UInt8.self, repeating: byte) }))
    }

    struct Case: Sendable {
        let epoch: UInt32
        let sequence: UInt64
        var blob: UInt8 = 1
        let verdict: Watermark.Verdict
    }

    /// The state that was seen: epoch 2, sequence 5, blob 1.
    static let cases = [
        Case(epoch: 2, sequence: 5, verdict: .same),
        Case(epoch: 2, sequence: 5, blob: 2, verdict: .forked),
        Case(epoch: 2, sequence: 6, verdict: .advances),
        Case(epoch: 2, sequence: 4, verdict: .replayed),
        Case(epoch: 1, sequence: 5, verdict: .replayed),
        Case(epoch: 1, sequence: 6, verdict: .advances),
        Case(epoch: 1, sequence: .max, verdict: .jumps),
        Case(epoch: 3, sequence: 4, verdict: .replayed),
        Case(epoch: 3, sequence: 5, blob: 2, verdict: .advances),
        Case(epoch: 3, sequence: .max, verdict: .jumps),
        Case(epoch: 2, sequence: 5 + 1 << 32, verdict: .advances),
        Case(epoch: 2, sequence: 6 + 1 << 32, verdict: .jumps),
        Case(epoch: 2, sequence: .max, verdict: .jumps),
        Case(epoch: 2, sequence: 0, verdict: .replayed),
    ]

    @Test(arguments: cases) func orderIsSequenceThenEpoch(_ item: Case) {
        let mark = Watermark(epoch: 2, sequence: 5, commitment: Self.commitment(1))
        let found = Watermark(epoch: item.epoch, sequence: item.sequence, commitment: Self.commitment(item.blob))
        #expect(mark.verdict(on: found) == item.verdict)
    }

    @Test(arguments: [
        (UInt64(1) << 48, Watermark.Verdict.advances), (1 << 48 + 1, .jumps), (.max, .jumps), (0, .advances),
    ]) func firstContactTrustsWithinReason(_ sequence: UInt64, _ verdict: Watermark.Verdict) {
        let found = Watermark(epoch: 1, sequence: sequence, commitment: Self.commitment(1))
        #expect(Watermark.verdict(on: found, after: nil) == verdict)
    }

    @Test func aFloorWithoutABlobShowsNoFork() {
        let floor = Watermark(epoch: 2, sequence: 5, commitment: nil)
        let found = Watermark(epoch: 2, sequence: 5, commitment: Self.commitment(1))
        #expect(floor.verdict(on: found) == .same)
        #expect(floor.isOutdone(by: found))
        #expect(!found.isOutdone(by: floor))
        #expect(!found.isOutdone(by: found))
    }
}
