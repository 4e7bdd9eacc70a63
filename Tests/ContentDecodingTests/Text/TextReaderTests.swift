import ContentDecoding
import Testing

@Suite struct TextReaderTests {
    @Test func aShortTextIsOneBlockFromItsFirstLine() {
        let seen = SeenCarrier(Array("one\ntwo\n".utf8), named: "a.txt")
        #expect(seen.leaves.map(\.text) == ["one\ntwo\n"])
        #expect(seen.leaves.first?.line == 1)
        #expect(seen.leaves.first?.range == 0..<8)
    }

    @Test func blocksEndWithALineAndKnowTheirFirstLinesNumber() {
        let line = "0123456789012345678901234567890123456789012345678901234567890\n"
        let count = 40_000
        let seen = SeenCarrier(Array(String(repeating: line, count: count).utf8))
        #expect(seen.leaves.count == 3)
        #expect(seen.leaves.map(\.text).joined().utf8.count == count * 62)
        var expected = 1
        for leaf in seen.leaves {
            #expect(leaf.line == expected)
            #expect(leaf.text.hasSuffix("\n"))
            expected += leaf.text.utf8.count / 62
        }
    }

    @Test func aBlockOfPEMIsNeverCut() throws {
        let key = "-----BEGIN X KEY-----\n" + String(repeating: "QUJD\n", count: 400) + "-----END X KEY-----\n"
        let filler = String(repeating: "line\n", count: ((1 << 20) - 1000) / 5)
        let seen = SeenCarrier(Array((filler + key + filler).utf8))
        #expect(seen.leaves.contains { $0.text.contains(key) })
        #expect(seen.leaves.map(\.text).joined() == filler + key + filler)
    }

    @Test func valuesOfALongLineAreSeenWholeAtItsCuts() {
        let secret = "SECRETSECRETSECRET"
        let half = String(repeating: "x", count: (1 << 20) - 9)
        let seen = SeenCarrier(Array((half + secret + half).utf8))
        #expect(seen.leaves.contains { $0.text.contains(secret) })
    }

    @Test(arguments: [true, false], [true, false])
    func textInUTF16IsReadAsTheSameText(isLittle: Bool, hasMark: Bool) {
        let text = "token = caf\u{E9} \u{1F511}\r\nsecond line of plain letters, long enough to read\n"
        let units = (hasMark ? [0xFEFF] : []) + Array(text.utf16)
        let bytes = units.flatMap { unit -> [UInt8] in
            let pair = [UInt8(unit & 0xFF), UInt8(unit >> 8)]
            return isLittle ? pair : pair.reversed()
        }
        let seen = SeenCarrier(bytes)
        // Without a mark only text of mostly Latin letters is recognised.
        let isTold = hasMark
        #expect(seen.leaves.first.map { $0.text.hasSuffix(text) } == true || !isTold)
        #expect(seen.leaves.first?.form == .utf16 || !isTold)
    }

    /// A block has half a mebi of units.
    @Test(arguments: [true, false], [-17, -9, -1, 0, 8000])
    func valuesOfALongLineOfUTF16AreSeenWholeAtItsCuts(isLittle: Bool, place: Int) {
        let secret = "SECRETSECRETSECRET"
        let line = String(repeating: "x", count: (1 << 19) + place) + secret + String(repeating: "x", count: 1 << 19)
        let bytes = line.utf8.flatMap { isLittle ? [$0, 0] : [0, $0] as [UInt8] }
        let seen = SeenCarrier(bytes)
        #expect(seen.leaves.contains { $0.text.contains(secret) })
        #expect(seen.leaves.allSatisfy { $0.line == 1 })
    }

    @Test func linesOfUTF16AreSeenOnce() {
        let lines = String(repeating: "a line of sixteen\n", count: 100_000)
        let seen = SeenCarrier(lines.utf8.flatMap { [$0, 0] as [UInt8] })
        #expect(seen.leaves.count > 1)
        #expect(seen.leaves.map(\.text).joined() == lines)
    }

    @Test func latinTextInUTF16NeedsNoMark() {
        let text = "password = correct horse battery staple\n"
        let little = text.utf8.flatMap { [$0, 0] as [UInt8] }
        #expect(SeenCarrier(little).leaves.map(\.text) == [text])
        #expect(SeenCarrier(text.utf8.flatMap { [0, $0] as [UInt8] }).leaves.map(\.text) == [text])
    }

    @Test func theUnknownIsReadAsItIsAndItsWideTextOnceMore() {
        let wide = "wide secret text".utf8.flatMap { [$0, 0] as [UInt8] }
        let bytes: [UInt8] = [1, 2, 3, 255, 0] + Array("narrow".utf8) + [0, 1] + wide + [0, 0, 9]
        let seen = SeenCarrier(bytes)
        #expect(seen.leaves.map(\.form) == [.binary, .utf16])
        #expect(seen.leaves.last?.text == "wide secret text\n")
        #expect(seen.leaves.first?.range == 0..<Int64(bytes.count))
    }

    @Test func anEmptyFileHoldsNothing() {
        #expect(SeenCarrier([]).leaves.isEmpty)
        #expect(SeenCarrier([]).fault == nil)
    }
}
