import Glibc
import KeyVault
import SealedState
import Sealing
import TestSupport
import Testing

/// Tests of a tool that explains a record: it reports the result of a read.
@Suite struct ExaminationTests {
    private let fixture: StoreFixture
    private let store: SealedStore

    init() throws {
        fixture = try StoreFixture()
        store = try fixture.open()
    }

    private func examine(_ name: String = Note.recordName) throws(StoreError) -> ReadExamination {
        try store.examine(name) { _, _ in }
    }

    /// Expects the same error of both if nothing can be examined.
    private func expectSameAsRead(_ code: StoreError.Code) {
        let examined = refusal { _ = try examine() }
        let read = refusal { _ = try store.read(Note.self) }
        #expect(examined?.code == code)
        #expect(examined?.description == read?.description)
    }

    @Test func anAbsentRecordIsExplainedAsOnARead() throws {
        expectSameAsRead(.absent)
        try store.write(Note(text: "x"))
        #expect(unlink(fixture.file("note")) == 0)
        // The file is gone without a deletion.
        expectSameAsRead(.absent)
        try store.write(Note(text: "y"))
        try store.delete(Note.self)
        expectSameAsRead(.absent)
        try store.purge(named: "note")
        expectSameAsRead(.absent)
    }

    @Test func aRemovedContainerIsExplainedAsOnARead() throws {
        try store.write(Note(text: "x"))
        _ = try ChildProcess.run("/bin/rm", ["-r", fixture.container])
        expectSameAsRead(.containerMissing)
    }

    @Test func theLibrarysOwnRecordsCanBeExamined() throws {
        let name = "_sealed/leases/refresh"
        #expect(refusal { _ = try examine(name) }?.code == .absent)
        var forgery = try Forgery(store)
        (forgery.name, forgery.sequence) = (name, 1)
        try fixture.plantReserved(forgery.blob, name)
        #expect(try examine(name).error == nil)
        #expect(refusal { _ = try store.read(Note.self, named: name) }?.code == .invalidName)
    }
}

extension StoreFixture {
    fileprivate func plantReserved(_ bytes: [UInt8], _ name: String) throws {
        let folders = name.split(separator: "/").dropLast().joined(separator: "/")
        _ = try ChildProcess.run("/bin/mkdir", ["-p", "\(records)/\(folders)"])
        try plant(bytes, name)
    }
}
