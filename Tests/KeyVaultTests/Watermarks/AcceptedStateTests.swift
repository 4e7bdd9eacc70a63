import CryptoPrimitives
import Sealing
import Testing

@testable import KeyVault

/// Tests of the merge of several programs' memories, and of its state after a restart.
@Suite struct AcceptedStateTests {
    private static func state(
        _ sequence: UInt64, epoch: UInt32 = 1, durable: Bool = true, settled: UInt64 = 0, purged: Bool = false,
        anchor: Int64 = 0
    ) -> AcceptedState {
        AcceptedState(
            mark: Watermark(epoch: epoch, sequence: sequence, commitment: WatermarkTests.commitment(UInt8(epoch))),
            isDurable: durable, settled: settled, isPurged: purged, anchor: ClockAnchor(milliseconds: anchor))
    }

    private static func merged(_ states: [AcceptedState]) -> AcceptedState {
        states.dropFirst().reduce(into: states[0]) { $0.merge($1) }
    }

    @Test func mergingIsIndifferentToOrderAndRepetition() {
        let states = [
            Self.state(4, settled: 4, anchor: 900), Self.state(5, settled: 3, anchor: 100),
            Self.state(5, epoch: 2, durable: false, anchor: 300), Self.state(5, purged: true, anchor: -5),
        ]
        let expected = Self.merged(states)
        #expect(expected.mark.sequence == 5 && expected.mark.epoch == 2 && !expected.isDurable)
        #expect(expected.settled == 4 && expected.isPurged)
        // The anchor of another sequence has no meaning for this one.
        #expect(expected.anchor.milliseconds == 300 && expected.formerAnchor.milliseconds == 900)
        for first in states {
            for second in states {
                for third in states {
                    #expect(Self.merged([first, second, third] + states) == expected)
                    #expect(Self.merged(states.reversed() + [third, second, first]) == expected)
                }
            }
        }
    }

    @Test func aLaterWriteEndsAPurge() {
        #expect(!Self.merged([Self.state(5, purged: true), Self.state(6)]).isPurged)
        #expect(!Self.merged([Self.state(6), Self.state(5, purged: true)]).isPurged)
    }

    // A writer that never saw the deletion reaches its sequence, after a restart has left only the mark's sequence.
    @Test func aValueOfThePurgedSequenceEndsThePurgeForGood() throws {
        let purged = try #require(Self.state(5, settled: 5, purged: true).afterRestart)
        #expect(purged.isGone)
        func accept(_ header: BlobHeader) -> AcceptedState {
            AcceptedBlobFacts(header: header, isAcknowledged: true, anchor: .unknown, now: 0).state(after: purged)
        }
        let value = accept(try Self.header(5))
        #expect(value.isPurged && !value.isGone)
        #expect(!Self.merged([purged, value]).isGone && !Self.merged([value, purged]).isGone)
        #expect(value.afterRestart?.isGone == false)
        #expect(Self.merged([value, Self.state(6)]).isRefilled == false)
        // The deletion itself, put back, is the purged one.
        var tombstone = try Self.header(5)
        tombstone.flags = .tombstone
        #expect(accept(tombstone).isGone)
    }

    // MARK: Settled sequences

    struct Read: Sendable {
        let sequence: UInt64
        var durable = true
        var acknowledged = false
        var age = 0.0
        let settled: UInt64
    }

    /// The states that one program sees in order, and the settled sequence after each.
    static let reads: [[Read]] = [
        // A writer knows that its write is complete. A reader knows that the previous one was.
        [Read(sequence: 5, acknowledged: true, settled: 5), Read(sequence: 6, acknowledged: true, settled: 6)],
        [Read(sequence: 5, settled: 0), Read(sequence: 6, settled: 5), Read(sequence: 9, settled: 6)],
        // The writes are durable, unsynced, and durable but not acknowledged. A crash may leave the first one.
        [
            Read(sequence: 5, settled: 0), Read(sequence: 6, durable: false, settled: 5),
            Read(sequence: 7, settled: 5), Read(sequence: 8, settled: 7),
        ],
        // An unsynced write is never settled, from any writer and at any age.
        [
            Read(sequence: 5, durable: false, acknowledged: true, settled: 0),
            Read(sequence: 6, durable: false, age: 1e9, settled: 0),
        ],
        // A value that was sealed a minute ago is on the disk, or its writer ended long ago.
        [Read(sequence: 5, age: 61, settled: 5), Read(sequence: 6, age: 59, settled: 5)],
        [Read(sequence: 5, age: -1e9, settled: 0)],
    ]

    @Test(arguments: reads) func onlyWhatIsKnownToBeDoneHoldsAcrossARestart(_ reads: [Read]) throws {
        var known: AcceptedState?
        for read in reads {
            let header = try Self.header(read.sequence, durable: read.durable, sealedAt: 1_000_000_000)
            let blob = AcceptedBlobFacts(
                header: header, isAcknowledged: read.acknowledged, anchor: .unknown, now: 1_000_000 + read.age)
            known = blob.state(after: known)
            #expect(known?.settled == read.settled)
            #expect(known?.mark.sequence == read.sequence)
        }
    }

    // MARK: Time

    @Test func aNewWriteHasAnAnchorOfItsOwnAndAResealKeepsItsValues() throws {
        func accept(_ header: BlobHeader, _ anchor: Int64, after known: AcceptedState?) -> AcceptedState {
            AcceptedBlobFacts(
                header: header, isAcknowledged: false, anchor: ClockAnchor(milliseconds: anchor), now: 0
            ).state(after: known)
        }
        let first = accept(try Self.header(5), 900, after: nil)
        let resealed = accept(try Self.header(5, epoch: 2), 5000, after: first)
        #expect(resealed.anchor.milliseconds == 900 && resealed.mark.epoch == 2)
        let next = accept(try Self.header(6), 100, after: resealed)
        #expect(next.anchor.milliseconds == 100 && next.formerAnchor.milliseconds == 900)
    }

    private static let context = BlobContext(group: "group.com.example.marks", kind: .record, name: "note")
    /// A valid header. Tests set the necessary fields on a copy.
    private static let sealed = Result { () -> BlobHeader in
        let blob = BlobSealer.seal(
            UnsafeRawBufferPointer(start: nil, count: 0),
            as: BlobDescription(
                record: context, flags: [], schemaVersion: 1, sequence: 1, sealedAt: 1, notAfter: 0, codec: .raw),
            key: try SealingKey(secret: SecretBytes.random(count: 32), epoch: 1))
        return try BlobHeader(parsing: blob)
    }

    private static func header(
        _ sequence: UInt64, epoch: UInt32 = 1, durable: Bool = true, sealedAt: UInt64 = 1
    ) throws -> BlobHeader {
        var header = try sealed.get()
        (header.sequence, header.epoch, header.sealedAt) = (sequence, epoch, sealedAt)
        header.flags = durable ? [] : .unsynced
        return header
    }
}
