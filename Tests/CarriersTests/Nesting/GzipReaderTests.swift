import Carriers
import TestSupport
import Testing

@Suite(.enabled(if: Python.isHere)) struct GzipReaderTests {
    @Test func aCompressedFileIsReadByWhatItHolds() throws {
        let bytes = try Python.bytes(
            #"write(gzip.compress(b'{"token": "one"}') + gzip.compress(b'\n{"token": "two"}') + b"\0" * 100)"#)
        let reading = CarrierReading(bytes, named: "log.json.gz")
        #expect(reading.leaves.map(\.text) == ["one", "two"])
        #expect(reading.leaves.map(\.place) == ["json: token", "json: line 2, token"])
        #expect(reading.notes.isEmpty)
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
