import AppGroups
import SealedState
import TestSupport
import Testing

@Suite struct StoreQuotaTests {
    let fixture: StoreFixture
    let store: SealedStore
    let registry: GroupRegistry

    init() throws {
        fixture = try StoreFixture()
        store = try fixture.open()
        registry = GroupRegistry(fixture.group, in: fixture.home)
    }

    private func note(of size: Int) -> Note { Note(text: String(repeating: "x", count: size)) }

    @Test func aWriteBeyondTheQuotaIsRefusedWithFiguresAndTheOldValueRemains() throws {
        try store.write(note(of: 10))
        try registry.setQuota(4000)
        let error = try #require(refusal { try store.write(note(of: 5000)) })
        #expect(error.code == .quotaExceeded)
        #expect(error.advice.contains("4000") && error.advice.contains("sealctl container quota"))
        #expect(try store.read(Note.self) == note(of: 10))
        #expect(try fixture.staleFiles().filter { !$0.hasSuffix(".sealedstate.container") }.isEmpty)
    }

    @Test func aValueWithinTheQuotaIsWritten() throws {
        try registry.setQuota(20_000)
        try store.write(note(of: 1000))
        #expect(try store.read(Note.self) == note(of: 1000))
    }

    @Test func atTheQuotaDeletingWorksAndMakesRoom() throws {
        try store.write(note(of: 9000), named: "large")
        try store.write(note(of: 10), named: "small")
        try registry.setQuota(5000)
        #expect(code { try store.write(note(of: 500), named: "another") } == .quotaExceeded)
        try store.delete(named: "large")
        try store.write(note(of: 500), named: "another")
    }

    @Test func atTheQuotaATornRecordIsDeleted() throws {
        try store.write(note(of: 100), named: "torn")
        try registry.setQuota(1)
        try SystemFile.write(fixture.file("torn"), [1, 2, 3])
        try store.delete(named: "torn")
        #expect(try SystemFile.read(fixture.file("torn")).count > 3)
    }

    @Test func withoutAQuotaNothingIsRefused() throws {
        try registry.setQuota(1)
        #expect(code { try store.write(note(of: 1)) } == .quotaExceeded)
        try registry.setQuota(nil)
        try store.write(note(of: 100_000))
    }
}
