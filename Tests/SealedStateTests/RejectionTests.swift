import FoundationEssentials
import SealedState
import Sealing
import TestSupport
import Testing

/// A reason to refuse a blob, applied to an otherwise sound one.
enum Fault: Int, CaseIterable, Comparable, Sendable {
    // In the order of the checks: of two faults the first one is reported.
    case tooLarge, noMagic, unknownFormat, unknownFlag, otherKind, otherGroup, otherName, cutShort, otherKey, otherEpoch
    case changedHeader, changedContents, old, tooNew, notJSON, nested, broken, fromTheFuture, expired, forbidden

    static func < (left: Fault, right: Fault) -> Bool { left.rawValue < right.rawValue }

    var code: StoreError.Code {
        switch self {
        case .tooLarge: .tooLarge
        case .noMagic, .cutShort: .malformed
        case .unknownFormat, .unknownFlag: .unsupportedFormat
        case .otherKind: .wrongKind
        case .otherGroup: .wrongGroup
        case .otherName: .wrongName
        case .otherKey: .unknownKey
        case .otherEpoch: .wrongEpoch
        case .changedHeader: .wrongCommitment
        case .changedContents: .tampered
        case .old: .replayed
        case .tooNew: .tooNew
        case .notJSON, .broken: .undecodable
        case .nested: .unsafeStructure
        case .fromTheFuture: .notYetValid
        case .expired: .stale
        case .forbidden: .invalid
        }
    }

    func apply(to forgery: inout Forgery) throws {
        switch self {
        case .tooLarge: forgery.added = 2 << 20
        case .noMagic: forgery.flips.append((0, 1))
        case .unknownFormat: forgery.flips.append((Field.format, 2))
        case .unknownFlag: forgery.flips.append((Field.flags, 0x80))
        case .otherKind: forgery.kind = .stream
        case .otherGroup: forgery.group = "group.com.example.other"
        case .otherName: forgery.name = "another"
        case .cutShort: forgery.kept = Field.end + 8
        case .otherKey: forgery.key = try .random(epoch: 1)
        case .otherEpoch: forgery.flips.append((Field.epoch, 2))
        case .changedHeader: forgery.flips.append((Field.sequence, 0x40))
        case .changedContents: forgery.flips.append((-1, 1))
        case .old: forgery.sequence = 1
        case .tooNew: forgery.schemaVersion = 99
        case .notJSON: forgery.codec = .raw
        case .nested: forgery.payload.depth = 100
        case .broken: forgery.payload.isBroken = true
        case .fromTheFuture: forgery.sealedAt += 3600
        case .expired: forgery.notAfter = Date() - 60
        case .forbidden: forgery.payload.text = Note.forbidden
        }
    }
}

/// Tests of the order of the checks: cheapest and least trusting first, so that a blob with two faults is refused for
/// the first.
@Suite struct RejectionTests {
    @Test func aSoundForgeryIsRead() throws {
        let fixture = try StoreFixture()
        let store = try fixture.open()
        try fixture.plant(try Forgery(store).blob)
        #expect(try store.read(Note.self) == Note(text: "sound", number: 7))
    }

    @Test(arguments: Fault.allCases) func aBlobWithOneFaultIsRefusedForIt(_ fault: Fault) throws {
        let fixture = try StoreFixture()
        let store = try fixture.open()
        try expect(fault.code, of: [fault], fixture, store, sequence: 7)
    }

    @Test func ofTwoFaultsTheEarlierOneIsReported() throws {
        let fixture = try StoreFixture()
        let store = try fixture.open()
        var sequence: UInt64 = 7
        for first in Fault.allCases {
            for second in Fault.allCases where second > first {
                // A blob that cannot be decoded has no rules to break.
                if first == .broken && second == .forbidden { continue }
                // In a stream, a changed sequence is a fault of its shape.
                if first == .otherKind && second == .changedHeader { continue }
                sequence += 1
                try expect(first.code, of: [first, second], fixture, store, sequence: sequence)
            }
        }
    }

    private func expect(
        _ code: StoreError.Code, of faults: [Fault], _ fixture: StoreFixture, _ store: SealedStore, sequence: UInt64
    ) throws {
        var sound = try Forgery(store)
        sound.sequence = sequence
        try fixture.plant(sound.blob)
        _ = store.readIfValid(Note.self)
        var forgery = sound
        forgery.sequence = sequence + 1
        for fault in faults { try fault.apply(to: &forgery) }
        try fixture.plant(forgery.blob)
        let error = refusal { _ = try store.read(Note.self) }
        #expect(error?.code == code, "\(faults): \(error?.description ?? "was read")")
        #expect(store.readIfValid(Note.self) == nil)
    }
}
