import ContentDecoding
import TestSupport
import Testing

/// Tests of files that are made to let a reader loop, grow or crash. Each read ends soon, with few values.
@Suite struct HostilePropertyListTests {
    /// A script that writes any objects with any references: `ref` is three bytes, offsets are four.
    private static let writer = """
        def make(objects, top=0, offsets=None):
            out = bytearray(b"bplist00")
            places = []
            for item in objects:
                places.append(len(out))
                out += item
            table = len(out)
            for place in (offsets(places) if offsets else places): out += struct.pack(">I", place)
            count = (len(out) - table) // 4
            return bytes(out + struct.pack(">6xBBQQQ", 4, 3, count, top, table))
        def head(kind, n): return bytes([kind | n]) if n < 15 else bytes([kind | 15, 0x12]) + struct.pack(">I", n)
        def refs(numbers): return b"".join(struct.pack(">I", n)[1:] for n in numbers)
        def array(*numbers): return head(0xa0, len(numbers)) + refs(numbers)
        def text(value): return head(0x50, len(value)) + value.encode()

        """

    private func read(_ program: String) throws -> (leaves: Int, notes: [CarrierFault]) {
        CarrierReading.count(try Python.bytes(Self.writer + program))
    }

    @Test func anArrayThatHoldsItselfIsReadOnce() throws {
        let seen = try read(#"write(make([array(0, 1, 2), text("inside"), array(0, 2, 1)]))"#)
        #expect(seen.leaves == 2)
        #expect(seen.notes.isEmpty)
    }

    @Test func aBillionLaughsAreTen() throws {
        let seen = try read(
            #"write(make([array(*[i + 1] * 10) for i in range(40)] + [text("ha")]))"#)
        #expect(seen.leaves == 10)
    }

    @Test func aMillionNestedArraysAreFollowedToTheLast() throws {
        let seen = try read(#"write(make([array(i + 1) for i in range(1000000)] + [text("at the bottom")]))"#)
        #expect(seen.leaves == 1)
        #expect(seen.notes.isEmpty)
    }

    @Test func aLargeTextOfAMillionKeysIsNotReadAMillionTimes() throws {
        let seen = try read(#"write(make([array(*[1] * 1000000), text("x" * 4000000)]))"#)
        #expect(seen.leaves < 20)
    }

    @Test func overlappingObjectsEndTheReading() throws {
        let arrays = try read(
            """
            write(make([array(*range(1, 3000)), array(*range(1, 3000)), text("x")],
                offsets=lambda places: [places[0]] + [places[1]] * 2999 + [places[2]]))
            """)
        #expect(arrays.notes == [.malformed("its objects overlap")])
        let texts = try read(
            """
            write(make([array(*range(1, 100000)), text("x" * 1000000)],
                offsets=lambda places: [places[0]] + [places[1]] * 99999))
            """)
        #expect(texts.notes == [.malformed("its objects overlap")])
        #expect(texts.leaves < 10)
    }

    @Test(arguments: [
        "(0, 1 << 40, 0, 8)", "(0, 1, 5, 8)", "(0, (1 << 64) - 1, 0, 9)", "(0, 3, 0, (1 << 63))", "(9, 1, 0, 8)",
        "(0, 1 << 61, 0, 9)",
    ])
    func aWrongTrailerIsANote(numbers: String) throws {
        let seen = CarrierReading(
            try Python.bytes(
                "w, c, t, o = \(numbers)\nwrite(b'bplist00Stoken-in-the-open' + b'\\x08' + struct.pack('>6xBBQQQ', w or 1, 1, c, t, o))"
            ))
        #expect(seen.notes.count == 1)
        // The file is still searched.
        #expect(seen.leaves.contains { $0.text.contains("token-in-the-open") })
    }

    @Test func aFileThatIsCutAnywhereIsANote() throws {
        let whole = try Python.bytes(
            #"write(binary({"list": [{"token": "abc%d" % i, "n": i, "d": b"xyz"} for i in range(20)]}))"#)
        for count in 8..<whole.count {
            let reading = CarrierReading(Array(whole[..<count]))
            #expect(reading.notes.count + (reading.fault == nil ? 0 : 1) > 0, "\(count)")
        }
    }
}
