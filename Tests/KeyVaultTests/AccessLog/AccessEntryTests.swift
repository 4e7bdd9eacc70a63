import Testing

@testable import KeyVault

@Suite struct AccessEntryTests {
    @Test func aLongExecutableIsCutFromTheLeft() {
        let path = Array("/start/".utf8) + [UInt8](repeating: UInt8(ascii: "x"), count: 200) + Array("/end".utf8)
        let name = ExecutableName(path: path)
        #expect(name.isCut)
        #expect(Array(name.bytes) == path.suffix(160))
    }

    @Test func aCutNeverLeavesHalfACharacter() {
        let name = ExecutableName(
            path: [UInt8](repeating: 0x78, count: 9) + Array(String(repeating: "ä", count: 80).utf8) + [0x78])
        #expect(name.isCut)
        #expect(name.bytes.count == 159)
        #expect(name.bytes.first == 0xC3)
    }

    @Test func anExecutableThatFitsIsKeptWhole() {
        let path = [UInt8](repeating: UInt8(ascii: "x"), count: 160)
        let name = ExecutableName(path: path)
        #expect(!name.isCut)
        #expect(Array(name.bytes) == path)
    }

    @Test func aCutExecutableIsMarkedInTheLog() throws {
        let fixture = try AccessLogFixture()
        let path = Array("/start/".utf8) + [UInt8](repeating: UInt8(ascii: "x"), count: 200)
        let draft = AccessDraft(event: .openFailed, executable: ExecutableName(path: path))
        let noKey = UnsafeRawBufferPointer(start: nil, count: 0)
        _ = try fixture.log.file.append(draft, key: noKey, number: 0, durable: false, timeLimit: .seconds(1))
        let entry = try #require(try fixture.entries().first)
        #expect(entry.isExecutableCut)
        #expect(entry.executable == String(repeating: "x", count: 160))
    }

    @Test func numbersAndNamesAreStable() {
        let numbers = AccessEvent.known.map { "\($0.rawValue) \($0.name)" }
        #expect(
            numbers == [
                "1 opened", "2 openFailed", "3 created", "4 unlocked", "5 locked", "16 itemRead", "17 itemAdded",
                "18 itemUpdated", "19 itemDeleted", "32 slotAdded", "33 slotRemoved", "34 slotReplaced", "35 rekeyed",
                "36 slotRenewed", "37 certified",
                "48 keyAdded", "49 keyRetired", "50 keyDestroyed", "51 rotationBegun", "52 rotationCompleted",
                "64 exported", "65 imported", "66 abandoned", "67 accepted", "80 continued",
            ])
        let outcomes = (0...4).map { AccessOutcome(rawValue: $0).name }
        #expect(outcomes == ["outcome-0", "succeeded", "intended", "refused", "failed"])
        for event in AccessEvent.known { #expect(AccessEvent(name: event.name) == event) }
        #expect(AccessEvent(rawValue: 999).name == "event-999")
    }

    @Test func aHeadIsItsFortyBytes() throws {
        let head = try AccessLogFixture().append(3)
        #expect(head.encoded.count == AccessLogHead.encodedSize)
        #expect(AccessLogHead(decoding: head.encoded[...]) == head)
        #expect(AccessLogHead(decoding: (([9] + head.encoded)[1...])) == head)
        #expect(AccessLogHead(decoding: AccessLogHead.empty.encoded[...]) == .empty)
        #expect(AccessLogHead(decoding: head.encoded.dropLast()) == nil)
        #expect(AccessLogHead(decoding: [UInt8](repeating: 0, count: 8) + head.encoded[8...]) == nil)
    }
}
