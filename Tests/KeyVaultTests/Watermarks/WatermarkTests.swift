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

    /// Seen from epoch 2, sequence 5, blob 1.
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

    @Test func aFloorWithoutABlobTellsNoFork() {
        let floor = Watermark(epoch: 2, sequence: 5, commitment: nil)
        let found = Watermark(epoch: 2, sequence: 5, commitment: Self.commitment(1))
        #expect(floor.verdict(on: found) == .same)
        #expect(floor.isOutdone(by: found))
        #expect(!found.isOutdone(by: floor))
        #expect(!found.isOutdone(by: found))
    }
}

/// What an entry on disk is worth, now and after a restart.
@Suite struct WatermarkEntryTests {
    static let here = BootID(bytes: Bytes16(filling: { $0[0] = 1 }))
    static let before = BootID(bytes: Bytes16(filling: { $0[0] = 2 }))
    static let name = NameTag(bytes: Bytes16(filling: { $0[0] = 3 }))

    static func entry(_ sequence: UInt64, durable: Bool = true, boot: BootID = before) -> WatermarkEntry {
        let mark = Watermark(
            epoch: 1, sequence: sequence, commitment: WatermarkTests.commitment(UInt8(sequence & 0xFF)))
        return WatermarkEntry(name: name, mark: mark, isDurable: durable, boot: boot)
    }

    @Test func withinItsBootAnEntryHoldsAsItIs() {
        for durable in [true, false] {
            let entry = Self.entry(5, durable: durable, boot: Self.here)
            #expect(entry.floor(in: Self.here) == entry.mark)
        }
    }

    @Test func afterARestartADurableEntryHoldsOneLess() {
        let floor = Self.entry(5).floor(in: Self.here)
        #expect(floor == Watermark(epoch: 0, sequence: 4, commitment: nil))
        #expect(Self.entry(0).floor(in: Self.here) == nil)
    }

    @Test func afterARestartAnUnsyncedEntryDoesNotCount() {
        #expect(Self.entry(5, durable: false).floor(in: Self.here) == nil)
    }

    @Test func anEntryReadsBackAsItWasWritten() throws {
        let key = SecretBytes.random(count: 32)
        for durable in [true, false] {
            let entry = Self.entry(.max, durable: durable)
            let bytes = entry.encoded(key: key)
            #expect(bytes.count == WatermarkEntry.size)
            #expect(bytes.withUnsafeBytes { WatermarkEntry(parsing: $0, key: key) } == entry)
        }
    }

    @Test func everyFlippedBitOfAnEntryIsSeen() {
        let key = SecretBytes.random(count: 32)
        let bytes = Self.entry(5).encoded(key: key)
        for bit in 0..<bytes.count * 8 {
            var changed = bytes
            changed[bit / 8] ^= 1 << (bit % 8)
            #expect(changed.withUnsafeBytes { WatermarkEntry(parsing: $0, key: key) } == nil)
        }
        let other = SecretBytes.random(count: 32)
        #expect(bytes.withUnsafeBytes { WatermarkEntry(parsing: $0, key: other) } == nil)
    }
}
