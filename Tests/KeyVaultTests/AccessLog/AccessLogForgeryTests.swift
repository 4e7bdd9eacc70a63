import CryptoPrimitives
import Sealing
import SharedFiles
import TestSupport
import Testing

@testable import KeyVault

@Suite struct AccessLogForgeryTests {
    let fixture: AccessLogFixture
    let head: AccessLogHead

    /// Creates six entries, of which the third has no key.
    init() throws {
        fixture = try AccessLogFixture()
        try fixture.append(2)
        try fixture.noteFailedOpening()
        head = try fixture.append(3)
    }

    private func verify() throws -> AccessLogVerification { try fixture.log.verify(noted: head) }

    @Test func anUntouchedLogIsIntact() throws {
        let result = try verify()
        #expect(result.isIntact)
        #expect(result.count == 6)
        #expect(result.notedHead == .found)
        #expect(result.uncoveredCount == 0)
    }

    @Test func everyFlippedBitIsFoundAndNamed() throws {
        let original = try fixture.bytes()
        var missed: [Int] = []
        for bit in 0..<original.count * 8 {
            let place = bit / 8
            try fixture.patch(fixture.path, place, original[place] ^ 1 << (bit % 8))
            let result = try verify()
            try fixture.patch(fixture.path, place, original[place])
            let index = UInt64(place / AccessLogFixture.entrySize)
            if result.isIntact || result.badIndexes.first != index { missed.append(bit) }
        }
        #expect(missed == [])
    }

    @Test(arguments: 0..<5) func aRemovedEntryIsFound(index: Int) throws {
        var slots = try fixture.slots()
        slots.remove(at: index)
        try fixture.write(slots.flatMap { $0 })
        let result = try verify()
        // If the first entry is gone, nothing authentic precedes the second one, which keeps its own number.
        #expect(result.badIndexes == [UInt64(max(index, 1))])
        #expect(!result.isIntact)
    }

    @Test(arguments: 0..<5) func swappedEntriesAreFound(index: Int) throws {
        var slots = try fixture.slots()
        slots.swapAt(index, index + 1)
        try fixture.write(slots.flatMap { $0 })
        #expect(try verify().badIndexes.first == UInt64(index))
    }

    @Test(arguments: 0..<6) func aDuplicatedEntryIsFound(index: Int) throws {
        var slots = try fixture.slots()
        slots.insert(slots[index], at: index)
        try fixture.write(slots.flatMap { $0 })
        #expect(try verify().badIndexes.first == UInt64(index + 1))
    }

    @Test(arguments: 0...6, [UInt8(0), 0xFF]) func anInsertedEntryIsFound(index: Int, filling: UInt8) throws {
        // Zeros at the very end are the result of a power loss.
        let isTail = index == 6 && filling == 0
        var slots = try fixture.slots()
        slots.insert([UInt8](repeating: filling, count: AccessLogFixture.entrySize), at: index)
        try fixture.write(slots.flatMap { $0 })
        let result = try verify()
        #expect(result.badIndexes.first == (isTail ? nil : UInt64(index)))
        #expect(result.endsTorn == isTail)
    }

    @Test(arguments: 0..<6) func aLogThatEndsBeforeTheNotedHeadIsFound(left: Int) throws {
        try fixture.write(Array(try fixture.bytes().prefix(left * AccessLogFixture.entrySize)))
        let result = try verify()
        #expect(result.notedHead == .cutShort(missing: UInt64(6 - left)))
        #expect(result.badCount == 0)
        #expect(!result.isIntact)
    }

    @Test func aCutLogThatHasGrownAgainIsFound() throws {
        try fixture.write(Array(try fixture.bytes().prefix(4 * AccessLogFixture.entrySize)))
        try fixture.append(5)
        let result = try verify()
        #expect(result.notedHead == .differs)
        #expect(result.badCount == 0)
    }

    @Test func entriesAfterTheNotedHeadArePossible() throws {
        try fixture.append(3)
        let result = try verify()
        #expect(result.isIntact)
        #expect(result.notedHead == .found)
    }

    @Test func aLogOfAnotherKeyIsFound() throws {
        let other = AccessLog(directory: fixture.directory, mode: 0o600, keys: AccessLogKeys(.random(count: 32)))
        let result = try other.verify(noted: head)
        #expect(result.badCount == 5)
        #expect(result.notedHead == .differs)
    }

    /// An entry whose code needs no key must not pass for an event that requires the key.
    @Test(arguments: [AccessEvent.openFailed, .itemRead]) func anEntryThatWasMadeUnkeyedIsFound(
        event: AccessEvent
    ) throws {
        var slots = try fixture.slots()
        var chained = slots[3].suffix(32) + slots[4].prefix(224)
        chained[chained.startIndex + 32 + AccessEntryLayout.flags] |= UInt8(AccessEntryLayout.unkeyed)
        chained[chained.startIndex + 32 + AccessEntryLayout.event] = UInt8(event.rawValue)
        for byte in 0..<4 { chained[chained.startIndex + 32 + AccessEntryLayout.keyNumber + byte] = 0 }
        let code = BLAKE2b.hash(Array(chained), personalization: .accessUnkeyedEntry, count: 32)
        slots[4] = chained.suffix(224) + code
        try fixture.write(slots.flatMap { $0 })
        // It is valid as an unkeyed entry, but the next keyed one does not cover it.
        #expect(try verify().badIndexes.first == (event == .openFailed ? 5 : 4))
    }

    /// A program of a later version has the key, so the code matches the entry.
    @Test(arguments: [0, 2, 0x101]) func anEntryOfAnotherVersionIsUnsupported(version: UInt16) throws {
        var slots = try fixture.slots()
        var chained = Array(slots[4].suffix(32) + slots[5].prefix(224))
        chained.withUnsafeMutableBytes { $0.put(version, at: 32 + AccessEntryLayout.versionField) }
        let code = (0..<32).map { UInt8($0) }.withUnsafeBytes { key in
            chained.withUnsafeBytes { AccessEntryLayout.code(of: $0, key: key) }
        }
        slots[5] = Array(chained.suffix(224)) + code.withUnsafeBytes { Array($0) }
        try fixture.write(slots.flatMap { $0 })
        let result = try fixture.log.verify(noted: nil)
        #expect(result.unsupportedCount == 1 && result.badIndexes == [5])
        #expect(!result.isIntact && result.isOnlyUnsupported)
        // The newer program has noted its entry as the head.
        let head = AccessLogHead(count: 6, code: slots[5].suffix(32).withRawBytes { Bytes32($0) })
        #expect(try fixture.log.verify(noted: head).isOnlyUnsupported)
        // Without the right code it is a changed entry of any version.
        slots[5][100] ^= 1
        try fixture.write(slots.flatMap { $0 })
        #expect(try fixture.log.verify(noted: nil).unsupportedCount == 0)
    }

    @Test func unkeyedEntriesAtTheEndAreCountedAsUncovered() throws {
        try fixture.noteFailedOpening()
        try fixture.noteFailedOpening()
        #expect(try verify().uncoveredCount == 2)
        try fixture.append(1)
        #expect(try verify().uncoveredCount == 0)
        #expect(try verify().isIntact)
    }

    /// Returns logs under the first key, and under the first and a second one.
    private func rekeyed() throws -> (former: AccessLog, new: AccessLog, keys: AccessLogKeys) {
        let secret = SecretBytes(count: 32) { for index in 0..<32 { $0[index] = UInt8(index) } }
        let keys = AccessLogKeys([(1, SecretBytesBox(secret)), (2, SecretBytesBox(.random(count: 32)))])
        return (fixture.log, AccessLog(directory: fixture.directory, mode: 0o600, keys: keys), keys)
    }

    /// A rekey by another program must not damage an honest program's log permanently.
    @Test(arguments: [false, true]) func noEntryUnderAFormerKeyFollowsALaterKey(unkeyedBetween: Bool) throws {
        let (former, new, keys) = try rekeyed()
        try new.append(.rekeyed, generation: 8)
        if unkeyedBetween { for _ in 0..<3 { try fixture.noteFailedOpening() } }
        let before = try fixture.bytes()
        #expect { try former.append(.itemRead, generation: 7) } throws: { ($0 as? FileError)?.code == .overtaken }
        #expect(try fixture.bytes() == before)
        // After a look at the vault the program continues under the newer key.
        let entry = NewEntry(event: .itemRead, generation: 8, subject: [1])
        _ = try former.append(entry) {
            former.follow(keys)
            return true
        }
        #expect(former.keyNumber == 2)
        let result = try new.verify(noted: head)
        #expect(result.isIntact && result.count == (unkeyedBetween ? 11 : 8))
    }

    /// A vault without such a key proves that the number was forged.
    @Test func aForgedKeyNumberKeepsNoEntryOut() throws {
        var slots = try fixture.slots()
        for byte in 0..<4 { slots[5][AccessEntryLayout.keyNumber + byte] = 0xFF }
        try fixture.write(slots.flatMap { $0 })
        let entry = NewEntry(event: .itemRead, generation: 7)
        #expect(throws: FileError.self) { _ = try fixture.log.append(entry) { false } }
        #expect(try fixture.log.append(entry) { true }.count == 7)
        try fixture.write(slots.flatMap { $0 })
        #expect(try fixture.log.append(entry, isNewest: true) { false }.count == 7)
        #expect(try verify().badIndexes == [5])
    }

    @Test func theLogContinuesBehindADamagedEntry() throws {
        var bytes = try fixture.bytes()
        bytes[bytes.count - 1] ^= 1
        try fixture.write(bytes)
        try fixture.append(2)
        let result = try verify()
        #expect(result.badIndexes == [5])
        #expect(result.count == 8)
    }
}
