import CryptoPrimitives
import Sealing
import Testing

@testable import KeyVault

/// Tests of the value of an entry on disk, now and after a restart.
@Suite struct WatermarkEntryTests {
    static let here = BootID(bytes: Bytes16(filling: { $0[0] = 1 }))
    static let before = BootID(bytes: Bytes16(filling: { $0[0] = 2 }))
    static let name = NameTag(bytes: Bytes16(filling: { $0[0] = 3 }))

    static func entry(
        _ sequence: UInt64, durable: Bool = true, settled: UInt64? = nil, purged: Bool = false,
        anchor: Int64 = 0, boot: BootID = before
    ) -> WatermarkEntry {
        let mark = Watermark(
            epoch: 1, sequence: sequence, commitment: WatermarkTests.commitment(UInt8(sequence & 0x7F) + 1))
        return WatermarkEntry(
            name: name,
            state: AcceptedState(
                mark: mark, isDurable: durable, settled: settled ?? (durable ? sequence : 0), isPurged: purged,
                anchor: ClockAnchor(milliseconds: anchor)), boot: boot)
    }

    @Test func withinItsBootAnEntryHoldsAsItIs() {
        for durable in [true, false] {
            let entry = Self.entry(5, durable: durable, anchor: 7, boot: Self.here)
            #expect(entry.floor(in: Self.here) == entry.state)
        }
    }

    @Test func afterARestartWhatWasSettledHolds() {
        let floor = Self.entry(5, settled: 3, anchor: 7).floor(in: Self.here)
        #expect(floor?.mark == Watermark(epoch: 0, sequence: 3, commitment: nil))
        #expect(floor?.anchor == .unknown)
        #expect(Self.entry(5, settled: 0).floor(in: Self.here) == nil)
        #expect(Self.entry(5, settled: 9).floor(in: Self.here)?.mark.sequence == 5)
    }

    @Test func aPurgeHoldsAcrossARestartOnlyWithItsDeletion() {
        #expect(Self.entry(5, settled: 5, purged: true).floor(in: Self.here)?.isPurged == true)
        #expect(Self.entry(5, settled: 4, purged: true).floor(in: Self.here)?.isPurged == false)
    }

    // An unknown boot neither continues without end, nor counts as a restart that forgets settled states.
    @Test func anUnknownBootIsNeverTheSameAsAnother() {
        let entry = Self.entry(5, settled: 4, anchor: 7, boot: .unknown)
        #expect(entry.floor(in: .unknown)?.mark == Watermark(epoch: 0, sequence: 4, commitment: nil))
        #expect(entry.floor(in: .unknown)?.anchor == .unknown)
        #expect(!BootID.unknown.isSame(as: .unknown))
        #expect(Self.here.isSame(as: Self.here) && !Self.here.isSame(as: Self.before))
    }

    @Test(arguments: [0, 1, -1, 1_800_000_000_000, .min, .max] as [Int64])
    func anEntryReadsBackAsItWasWritten(_ anchor: Int64) throws {
        let key = SecretBytes.random(count: 32)
        for durable in [true, false] {
            for purged in [true, false] {
                let entry = Self.entry(.max, durable: durable, settled: .max - 1, purged: purged, anchor: anchor)
                let bytes = entry.encoded(key: key)
                #expect(bytes.count == WatermarkEntry.size)
                #expect(bytes.withUnsafeBytes { WatermarkEntry(parsing: $0, key: key) } == entry)
            }
        }
    }

    @Test func aStateWithoutABlobReadsBackWithoutOne() throws {
        let key = SecretBytes.random(count: 32)
        let state = try #require(Self.entry(5).state.afterRestart)
        let bytes = WatermarkEntry(name: Self.name, state: state).encoded(key: key)
        #expect(bytes.withUnsafeBytes { WatermarkEntry(parsing: $0, key: key) }?.state == state)
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
