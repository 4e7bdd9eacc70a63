import ContentDecoding
import TestSupport
import Testing

@Suite struct GzipReaderTests {
    @Test func aCompressedFileIsReadByWhatItHolds() throws {
        let bytes = try Python.bytes(
            #"write(gzip.compress(b'{"token": "one"}') + gzip.compress(b'\n{"token": "two"}') + b"\0" * 100)"#)
        let reading = CarrierReading(bytes, named: "log.json.gz")
        #expect(reading.leaves.map(\.text) == ["one", "two"])
        #expect(reading.leaves.map(\.place) == ["json: token", "json: line 2, token"])
        #expect(reading.notes.isEmpty)
    }

    @Test(arguments: ["gzip", "zlib"])
    func bytesAfterTheLastMemberAreReadToo(module: String) throws {
        let bytes = try Python.bytes(
            """
            part = \(module).compress(b'{"token": "one"}')
            write(binary({"part": part + b'{"appended": "two"}', "lines": part + b'line\\n' * 9, "zero": part + bytes(99)}))
            """)
        let reading = CarrierReading(bytes)
        let outer = module == "gzip" ? "gzip" : "zlib"
        let appended = try reading.only("part > \(outer) > after the compressed data: appended")
        #expect(appended.text == "two")
        #expect(reading.fileBytes(of: appended) == Array("two".utf8))
        #expect(
            reading.leaves.contains { $0.place == "lines > \(outer) > after the compressed data" && $0.kind == .block })
        #expect(!reading.leaves.contains { $0.place.hasPrefix("zero") && $0.place.contains("after") })
    }

    @Test func membersAfterALargeMemberAreReadToo() throws {
        let bytes = try Python.bytes(
            """
            write(gzip.compress(random.Random(1).randbytes(300000)) + gzip.compress(b"x") + b"planted line\\n" * 20000)
            """)
        let reading = CarrierReading(bytes)
        #expect(reading.notes.isEmpty)
        let found = reading.leaves.filter { $0.place == "after the compressed data" }
        #expect(found.map(\.bytes.count).reduce(0, +) == 13 * 20000)
        #expect(found.first?.text.hasPrefix("planted line\nplanted") == true)
    }

    @Test func aFileThatIsCutOffIsReadAsFarAsItGoes() throws {
        let bytes = try Python.bytes(
            "write(gzip.compress(b''.join(b'line %d %d\\n' % (i, i * i) for i in range(5000))))")
        let whole = CarrierReading(bytes)
        for count in stride(from: 20, to: bytes.count, by: 997) {
            let reading = CarrierReading(Array(bytes[..<count]))
            #expect(reading.notes.map(\.fault) == [.malformed("its compressed data ends early or is wrong")])
            let text = reading.leaves.first?.text ?? ""
            #expect(whole.leaves.first?.text.hasPrefix(text) == true)
        }
    }

    @Test func aBombInABombInABombIsANote() throws {
        let bytes = try Python.bytes(
            """
            bomb = gzip.compress(b"0" * 100000000, 1)
            for _ in range(2): bomb = gzip.compress(bomb * 20, 1)
            write(bomb)
            """)
        let seen = CarrierReading.count(bytes)
        #expect(Set(seen.notes) == [.exhausted(.inflated)])
    }

    @Test func aBombAmongValuesLeavesTheOthers() throws {
        let bytes = try Python.bytes(
            """
            bomb = gzip.compress(b"0" * 100000000, 1)
            write(binary({"a": "first", "bomb": bomb, "z": base64.b64encode(binary({"token": "ghp_z"})).decode()}))
            """)
        let reading = CarrierReading(bytes)
        #expect(reading.notes.map(\.place) == ["bomb > gzip"])
        #expect(try reading.only("z > base64 > plist: token").text == "ghp_z")
    }

    @Test func nestingEndsAtTheDepthOfTheBudget() throws {
        let bytes = try Python.bytes(
            """
            value = b"token=here"
            for _ in range(40): value = gzip.compress(value)
            write(binary([value]))
            """)
        let reading = CarrierReading(bytes, budget: CarrierBudget(depth: 8))
        #expect(reading.notes.map(\.fault) == [.exhausted(.depth)])
    }
}
