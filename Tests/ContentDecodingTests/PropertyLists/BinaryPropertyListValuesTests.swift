import ContentDecoding
import TestSupport
import Testing

@Suite struct BinaryPropertyListValuesTests {
    @Test func leavesComeWithTheirWayAndTheirBytes() throws {
        let reading = CarrierReading(
            try Python.bytes(
                """
                write(binary({"accounts": [{}, {"token": "ghp_x"}, {"größe": "für alle", "n": 7, "yes": True, "b": b"\\1\\2"}]}))
                """))
        let token = try reading.only("accounts[1].token")
        #expect(token.text == "ghp_x")
        #expect(token.name == "token")
        #expect(token.presence == .live)
        #expect(token.form == .binaryPropertyList)
        #expect(reading.fileBytes(of: token) == Array("ghp_x".utf8))
        let wide = try reading.only("accounts[2].größe")
        #expect(wide.text == "für alle")
        #expect(wide.range?.count == 16)
        #expect(try reading.only("accounts[2].n").number == 7)
        #expect(try reading.only("accounts[2].yes").kind == .flag)
        #expect(try reading.only("accounts[2].b").bytes == [1, 2])
        #expect(reading.notes.isEmpty)
        #expect(reading.leaves.count == 5)
    }

    @Test func aValueThatKeysShareComesForEach() throws {
        let reading = CarrierReading(try Python.bytes(#"write(binary({"password": "same", "hint": "same"}))"#))
        #expect(Set(reading.leaves.map(\.place)) == ["password", "hint"])
    }

    @Test func unreferencedObjectsAreReadAsFreed() throws {
        // The array's only reference is changed from the second text to the first.
        let reading = CarrierReading(
            try Python.bytes(
                """
                data = bytearray(binary(["kept here", "left behind"]))
                at = 8
                assert data[at] == 0xa2
                data[at + 2] = data[at + 1]
                write(bytes(data))
                """))
        let left = try #require(reading.leaves.first { $0.text == "left behind" })
        #expect(left.presence == .freed)
        #expect(left.place == "unused object 2")
        #expect(reading.leaves.filter { $0.text == "kept here" }.map(\.presence) == [.live, .live])
    }

    @Test func aDamagedObjectCostsANoteAndNothingElse() throws {
        let reading = CarrierReading(
            try Python.bytes(
                """
                data = bytearray(binary({"a": "first text", "b": "second text", "c": "third text"}))
                data[data.index(b"second text") - 1] = 0xf3
                write(bytes(data))
                """))
        #expect(reading.leaves.map(\.text).contains("first text"))
        #expect(reading.leaves.map(\.text).contains("third text"))
        #expect(reading.notes.map(\.place) == ["b"])
        #expect(reading.notes.map(\.fault) == [.malformed("an object is of an unknown kind")])
    }

    @Test func valuesTooLargeForMemoryAreReadLikeFiles() throws {
        let reading = CarrierReading(
            try Python.bytes(
                """
                text = b"".join(b"line %d\\n" % i for i in range(900000))
                write(binary({"log": text + b"token=here\\n", "after": "seen"}))
                """))
        #expect(reading.leaves.contains { $0.place == "log > value" && $0.text.contains("token=here") })
        #expect(try reading.only("after").text == "seen")
        let last = try #require(reading.leaves.last { $0.kind == .block })
        #expect(reading.fileBytes(of: last) == last.bytes)
    }
}
