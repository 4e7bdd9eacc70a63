import Glibc
import GroupIPC
import KeyVault
import Sealing
import TestSupport
import Testing

@testable import AppGroups
@testable import SealedState

/// Tests of sealed values in shared memory.
@Suite(.timeLimit(.minutes(10))) struct SealedSharedMemoryTests {
    private let fixture: StoreFixture

    init() throws { fixture = try StoreFixture("group.com.example.memory") }

    private struct Position: SealedRecord, Equatable {
        static let recordName = "position"
        static let schemaVersion = 1
        var x: Int
        var text = ""
        func validate() throws(ValidationFailure) {
            if x < 0 { throw ValidationFailure("x", "It is negative.") }
        }
    }

    /// Returns the memory of a member that writes to it directly, without keys.
    private func plain(_ name: String = "m") throws -> GroupSharedMemory {
        let container = try GroupContainer.open(fixture.group, in: fixture.home)
        return try GroupSharedMemory(name, in: container, capacity: nil)
    }

    private func clean() throws { try GroupContainer.open(fixture.group, in: fixture.home).removeKernelObjects() }

    private func code(_ body: () throws -> Void) -> StoreError.Code? {
        #expect(throws: StoreError.self) { try body() }?.code
    }

    @Test func aStoreOpensTheMemoryOfThePresentContainer() throws {
        let store = try fixture.open()
        #expect(rename(fixture.container, fixture.container + ".away") == 0)
        let other = try fixture.open()
        let memory = try store.sharedMemory("m", capacity: 1000)
        try memory.write(Position(x: 1))
        #expect(try other.sharedMemory("m", capacity: 1000).read(Position.self) == Position(x: 1))
        #expect(try SystemFile.names(fixture.container + ".away").contains(".ipc") == false)
        try clean()
    }

    @Test func aValueIsReadAsItWasWritten() throws {
        let store = try fixture.open()
        let memory = try store.sharedMemory("m", capacity: 1000)
        #expect(code { _ = try memory.read(Position.self) } == .absent)
        let first = try memory.write(Position(x: 1))
        #expect(try memory.read(Position.self) == Position(x: 1))
        #expect(try memory.write(Position(x: 2)) > first)
        #expect(try store.sharedMemory("m", capacity: 1000).read(Position.self) == Position(x: 2))
        try clean()
    }

    @Test func anotherProcessReadsItAndItsValuesAreRead() throws {
        let store = try fixture.open()
        let memory = try store.sharedMemory("m", capacity: 1000)
        let words = ["ipc-memory-sealed", fixture.place.path, fixture.group.identifier, "m", "1000"]
        let child = try ChildProcess("sealed-probe", words)
        #expect(try child.readLine() == "open")
        struct ProbeRecord: SealedRecord {
            static let recordName = "probe"
            static let schemaVersion = 1
            var number: Int
            var text: String
        }
        try memory.write(ProbeRecord(number: 5, text: ""))
        try child.write("read\n")
        #expect(try child.readLine() == "5")
        try child.write("write 6\n")
        #expect(try child.readLine() == "done")
        #expect(try memory.read(ProbeRecord.self).number == 6)
        try clean()
    }

    @Test func nothingOfTheValueIsInTheMemory() throws {
        let memory = try fixture.open().sharedMemory("m", capacity: 1000)
        try memory.write(Position(x: 1, text: "a-secret-that-shows"))
        let bytes = try #require(try plain().read())
        #expect(!String(decoding: bytes, as: UTF8.self).contains("secret"))
        #expect(bytes.count > 176)
        try clean()
    }

    @Test(arguments: [0, 20, 40, 100, 150, 180]) func aChangedByteIsRefusedAndTheNextWriteRepairsIt(offset: Int) throws
    {
        let memory = try fixture.open().sharedMemory("m", capacity: 1000)
        try memory.write(Position(x: 1))
        let plain = try plain()
        var bytes = try #require(try plain.read())
        bytes[offset] ^= 1
        try plain.write(bytes)
        let found = code { _ = try memory.read(Position.self) }
        #expect(found != nil && found != .absent && found != .container)
        try memory.write(Position(x: 2))
        #expect(try memory.read(Position.self) == Position(x: 2))
        try clean()
    }

    @Test(arguments: [0, 1, 175, 176, 1000]) func bytesThatAreNotABlobAreRefused(count: Int) throws {
        let memory = try fixture.open().sharedMemory("m", capacity: 1000)
        try memory.write(Position(x: 1))
        try plain().write([UInt8](repeating: 0x53, count: count))
        #expect(code { _ = try memory.read(Position.self) } == .malformed)
        try clean()
    }

    @Test func anOldValueThatIsPutBackIsARepetition() throws {
        let memory = try fixture.open().sharedMemory("m", capacity: 1000)
        try memory.write(Position(x: 1))
        let old = try #require(try plain().read())
        try memory.write(Position(x: 2))
        try plain().write(old)
        #expect(code { _ = try memory.read(Position.self) } == .replayed)
        #expect(try memory.write(Position(x: 3)) > 0)
        #expect(try memory.read(Position.self) == Position(x: 3))
        try clean()
    }

    @Test func aValueOfAnotherNameIsRefused() throws {
        let store = try fixture.open()
        let one = try store.sharedMemory("one", capacity: 1000)
        let other = try store.sharedMemory("other", capacity: 1000)
        try one.write(Position(x: 1))
        try other.write(Position(x: 2))
        try plain("other").write(try #require(try plain("one").read()))
        #expect(code { _ = try other.read(Position.self) } == .wrongName)
        try clean()
    }

    @Test func aRecordsBlobIsNotAValueOfTheMemory() throws {
        let store = try fixture.open()
        try store.write(Position(x: 1), named: "m")
        let memory = try store.sharedMemory("m", capacity: 1000)
        try memory.write(Position(x: 2))
        try plain().write(try fixture.blob("m"))
        #expect(code { _ = try memory.read(Position.self) } == .wrongName)
        try clean()
    }

    @Test func valuesContinueAfterTheMemoryWasRemovedAndMadeAgain() throws {
        let store = try fixture.open()
        let memory = try store.sharedMemory("m", capacity: 1000)
        let before = try memory.write(Position(x: 1))
        let container = try GroupContainer.open(fixture.group, in: fixture.home)
        try GroupSharedMemory.unlink("m", in: container)
        #expect(code { _ = try memory.read(Position.self) } == .container)
        #expect(code { _ = try memory.write(Position(x: 2)) } == .container)
        let reopened = try store.sharedMemory("m", capacity: 1000)
        #expect(code { _ = try reopened.read(Position.self) } == .absent)
        #expect(try reopened.write(Position(x: 3)) > before)
        #expect(try reopened.read(Position.self) == Position(x: 3))
        try clean()
    }

    /// A key holder invents a sequence.
    @Test(arguments: [.max, .max - 1, 1 << 60] as [UInt64]) func aNumberThatNoWriterCameToIsRefusedAndReplaced(
        sequence: UInt64
    ) throws {
        let store = try fixture.open()
        let memory = try store.sharedMemory("m", capacity: 1000)
        try memory.write(Position(x: 1))
        let place = try store.places.place(reserved: "\(RecordName.reservedSegment)/ipc/\(BootID.current.text)/m")
        let description = BlobDescription(
            record: place.context, flags: .unsynced, schemaVersion: 1, sequence: sequence,
            sealedAt: 1_700_000_000_000, codec: .json)
        let key = try store.reader.keys.activeKey(for: .afterFirstUnlock)
        let forged = Array(#"{"x":9,"text":""}"#.utf8).withUnsafeBytes {
            BlobSealer.seal($0, as: description, key: key)
        }
        try plain().write(forged)
        #expect(code { _ = try memory.read(Position.self) } == .sequenceJump)
        #expect(try memory.write(Position(x: 2)) < 1 << 60)
        #expect(try memory.read(Position.self) == Position(x: 2))
        try clean()
    }

    @Test func aValueThatIsTakenAwayIsARepetitionOfTheBeginning() throws {
        let memory = try fixture.open().sharedMemory("m", capacity: 1000)
        try memory.write(Position(x: 1))
        let record = Array(try SystemFile.read(fixture.container + "/.ipc/m.shm"))
        let key = record.withUnsafeBytes { $0.loadUnaligned(fromByteOffset: 12, as: Int32.self) }
        let address = try #require(shmat(shmget(key, 0, 0), nil, 0))
        address.storeBytes(of: 0, toByteOffset: 32, as: UInt64.self)
        #expect(shmdt(address) == 0)
        #expect(code { _ = try memory.read(Position.self) } == .replayed)
        try memory.write(Position(x: 2))
        #expect(try memory.read(Position.self) == Position(x: 2))
        try clean()
    }

    @Test func anInvalidValueIsNeitherWrittenNorRead() throws {
        let memory = try fixture.open().sharedMemory("m", capacity: 1000)
        #expect(code { try memory.write(Position(x: -1)) } == .invalid)
        #expect(code { _ = try memory.read(Position.self) } == .absent)
        #expect(code { try memory.write(Position(x: 1, text: String(repeating: "x", count: 1000))) } == .tooLarge)
        try clean()
    }

    @Test(arguments: [0, -1, Int.max]) func aCapacityOutOfRangeIsRefused(capacity: Int) throws {
        let store = try fixture.open()
        #expect(code { _ = try store.sharedMemory("m", capacity: capacity) } == .tooLarge)
    }

    @Test func withoutCreationItIsAbsent() throws {
        let store = try fixture.open()
        #expect(code { _ = try store.sharedMemory("m", capacity: 100, creating: false) } == .absent)
        #expect(code { _ = try store.sharedMemory("../m", capacity: 100) } == .invalidName)
    }
}
