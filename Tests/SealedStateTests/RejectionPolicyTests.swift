import FoundationEssentials
import SealedState
import Synchronization
import TestSupport
import Testing

/// Tests of the hook, and of copies in quarantine.
@Suite struct RejectionPolicyTests {
    let fixture: StoreFixture
    let seen = Seen()

    /// The rejections that a hook received.
    final class Seen: Sendable {
        private let errors = Mutex<[StoreError]>([])
        func note(_ error: StoreError) { errors.withLock { $0.append(error) } }
        var codes: [StoreError.Code] { errors.withLock { $0.map(\.code) } }
        var all: [StoreError] { errors.withLock { $0 } }
    }

    init() throws { fixture = try StoreFixture() }

    private func open(_ policy: RejectionPolicy = .refuse) throws -> SealedStore {
        let store = try fixture.open { [seen] options in
            options.rejectionPolicy = policy
            options.onRejection = { seen.note($0) }
        }
        try store.write(Note(text: "sound"))
        return store
    }

    private func forged(_ store: SealedStore, _ change: (inout Forgery) throws -> Void) throws -> [UInt8] {
        var forgery = try Forgery(store)
        forgery.sequence = 2
        try change(&forgery)
        return forgery.blob
    }

    private func copies() throws -> [[UInt8]] {
        guard SystemFile.exists(fixture.quarantine) else { return [] }
        return try SystemFile.names(fixture.quarantine).filter { $0.hasSuffix(".sealed") }
            .map { try SystemFile.read("\(fixture.quarantine)/\($0)") }
    }

    @Test func theHookIsNotifiedOnceForEachRefusedRead() throws {
        let store = try open()
        _ = try store.read(Note.self)
        #expect(seen.codes == [])
        try fixture.plant([1, 2, 3])
        for _ in 0..<2 { #expect(code { _ = try store.read(Note.self) } == .malformed) }
        #expect(seen.codes == [.malformed, .malformed])
        #expect(seen.all.allSatisfy { $0.subject == Note.recordName })
    }

    @Test func theHookIsNotNotifiedOfOtherFailures() throws {
        let store = try open()
        _ = store.readIfValid(ProbeRecord.self)
        try store.delete(Note.self)
        _ = store.readIfValid(Note.self)
        #expect(seen.codes == [])
    }

    @Test func theHookIsNotifiedOfAnUpdate() throws {
        let store = try open()
        try fixture.plant([1, 2, 3])
        #expect(code { try store.update(Note.self) { $0.number = 1 } } == .malformed)
        #expect(seen.codes == [.malformed])
    }

    @Test func theHookIsNotifiedOfWhatTheLastGoodValueHides() throws {
        let store = try open(.keepLastGood)
        _ = try store.read(Note.self)
        try fixture.plant([1, 2, 3])
        _ = try store.read(Note.self)
        #expect(seen.codes == [.malformed])
    }

    static let evidence: [Fault] = [
        .noMagic, .otherKind, .otherGroup, .otherName, .cutShort, .changedHeader, .changedContents, .nested, .broken,
        .forbidden,
    ]

    @Test(arguments: Fault.allCases) func aBlobThatIsItselfAtFaultIsCopied(_ fault: Fault) throws {
        let store = try open(.quarantine)
        if fault == .old { try store.write(Note(text: "second")) }
        let blob = try forged(store) { try fault.apply(to: &$0) }
        try fixture.plant(blob)
        for _ in 0..<3 { #expect(code { _ = try store.read(Note.self) } == fault.code) }
        let isEvidence = Self.evidence.contains(fault) || fault == .old || fault == .notJSON
        #expect(try copies() == (isEvidence ? [blob] : []))
        #expect(try fixture.blob() == blob)
        #expect(seen.codes == [fault.code, fault.code, fault.code])
    }

    @Test func theReasonIsStoredBesideTheCopyWithoutContents() throws {
        let store = try open(.quarantine)
        try fixture.plant(forged(store) { $0.payload.text = Note.forbidden })
        #expect(code { _ = try store.read(Note.self) } == .invalid)
        let note = try #require(try SystemFile.names(fixture.quarantine).first { $0.hasSuffix(".reason") })
        let text = String(decoding: try SystemFile.read("\(fixture.quarantine)/\(note)"), as: UTF8.self)
        #expect(text.contains("invalid") && !text.contains(Note.forbidden))
    }

    @Test func aSecondFileIsCopiedAsWell() throws {
        let store = try open(.quarantine)
        for bytes in [[1, 2, 3], [4, 5, 6]] as [[UInt8]] {
            try fixture.plant(bytes)
            _ = store.readIfValid(Note.self)
        }
        #expect(Set(try copies()) == [[1, 2, 3], [4, 5, 6]])
    }

    @Test func aCopyThatFailsChangesNoAnswer() throws {
        let store = try open(.quarantine)
        try SystemFile.write(fixture.quarantine, [])
        try fixture.plant([1, 2, 3])
        #expect(code { _ = try store.read(Note.self) } == .malformed)
        #expect(seen.all.map(\.isRejection) == [true, false])
    }

    @Test func withoutThePolicyNothingIsCopied() throws {
        let store = try open()
        try fixture.plant([1, 2, 3])
        _ = store.readIfValid(Note.self)
        #expect(try copies() == [])
    }

    @Test func bothPoliciesGoTogether() throws {
        let store = try open(RejectionPolicy(keepsLastGood: true, quarantines: true))
        _ = try store.read(Note.self)
        try fixture.plant([1, 2, 3])
        #expect(try store.read(Note.self).text == "sound")
        #expect(try copies() == [[1, 2, 3]])
    }
}
