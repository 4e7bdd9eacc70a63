import AppGroups
import SealedState
import TestSupport
import Testing

/// Tests of the container's limit for records, which all programs of a group share.
@Suite struct RecordLimitTests {
    let fixture: StoreFixture
    let store: SealedStore
    let registry: GroupRegistry

    init() throws {
        fixture = try StoreFixture()
        store = try fixture.open()
        registry = GroupRegistry(fixture.group, in: fixture.home)
    }

    private static let large = Note(text: String(repeating: "x", count: 3 << 20))

    @Test func aRaisedLimitCountsForRunningAndForNewStores() throws {
        let reader = try fixture.open()
        try store.write(Note(text: "small"))
        #expect(try reader.read(Note.self).text == "small")
        let error = refusal { try store.write(Self.large) }
        #expect(error?.code == .tooLarge)
        #expect(error?.reason.contains("1048576") == true)
        try registry.setRecordLimit(4 << 20)
        #expect(try store.write(Self.large) == 2)
        #expect(try reader.read(Note.self) == Self.large)
        #expect(try reader.list().map(\.rejection?.code) == [nil])
        let later = try fixture.open()
        #expect(later.options.maximumRecordSize == 4 << 20)
        #expect(try later.update(Note.self) { $0.number = 7 } == 3)
        #expect(try reader.read(Note.self).number == 7)
    }

    @Test func aReaderThatKeepsTheLastGoodValueLooksForTheLimitFirst() throws {
        let reader = try fixture.open { $0.rejectionPolicy = .keepLastGood }
        try store.write(Note(text: "small"))
        #expect(try reader.read(Note.self).text == "small")
        try registry.setRecordLimit(4 << 20)
        try store.write(Self.large)
        let snapshot = try reader.snapshot(of: Note.self)
        #expect(snapshot.value == Self.large && snapshot.rejection == nil)
    }

    @Test func aRaisedLimitLeavesTheLastGoodValue() throws {
        let reader = try fixture.open { $0.rejectionPolicy = .keepLastGood }
        try store.write(Note(text: "small"))
        #expect(try reader.read(Note.self).text == "small")
        try registry.setRecordLimit(4 << 20)
        try fixture.plant([UInt8](repeating: 7, count: 2 << 20))
        let snapshot = try reader.snapshot(of: Note.self)
        #expect(snapshot.value.text == "small" && snapshot.rejection?.code == .malformed)
    }

    @Test func aLoweredLimitRefusesAndKeepsTheRecord() throws {
        try registry.setRecordLimit(4 << 20)
        try store.write(Self.large)
        let blob = try fixture.blob()
        try registry.setRecordLimit(nil)
        let later = try fixture.open()
        #expect(later.options.maximumRecordSize == 1 << 20)
        let error = refusal { _ = try later.read(Note.self) }
        #expect(error?.code == .tooLarge)
        #expect(error?.advice.contains("sealctl container record-limit") == true)
        #expect(try fixture.blob() == blob)
        try registry.setRecordLimit(64 << 20)
        #expect(try later.read(Note.self) == Self.large)
    }

    @Test func aLimitOfTheProgramIsItsOwn() throws {
        try registry.setRecordLimit(4 << 20)
        try store.write(Self.large)
        let smaller = try fixture.open { $0.maximumRecordSize = 1 << 20 }
        #expect(smaller.options.maximumRecordSize == 1 << 20)
        #expect(code { _ = try smaller.read(Note.self) } == .tooLarge)
        #expect(code { try smaller.write(Self.large) } == .tooLarge)
        try registry.setRecordLimit(64 << 10)
        let larger = try fixture.open { $0.maximumRecordSize = 4 << 20 }
        #expect(try larger.read(Note.self) == Self.large)
    }

    @Test func aResetContainerKeepsTheLimit() throws {
        try registry.setRecordLimit(4 << 20)
        try registry.reset()
        #expect(try fixture.open().options.maximumRecordSize == 4 << 20)
        try store.write(Self.large)
        #expect(try store.read(Note.self) == Self.large)
    }
}
