import CryptoPrimitives
import Testing

@Suite struct HexadecimalTests {
    @Test func everyByteIsWrittenAndRead() throws {
        let bytes = Array(UInt8.min...UInt8.max)
        let text = encode(bytes)
        #expect(text.starts(with: Array("000102".utf8)))
        #expect(Array(text.suffix(4)) == Array("feff".utf8))
        #expect(try decode(text, count: 256) == bytes)
        #expect(try decode(Array("0aFF".utf8), count: 2) == [10, 255])
    }

    @Test func nothingIsNothing() throws {
        #expect(encode([]).isEmpty)
        #expect(try decode([], count: 0).isEmpty)
    }

    @Test(arguments: ["0", "000", "00 0", "0g", "0x00", "00\n", "gg", "", "0000000"])
    func anythingElseIsRefused(text: String) {
        #expect(throws: CryptoError(.malformedEncoding, "hexadecimal decoding")) {
            _ = try decode(Array(text.utf8), count: 1)
        }
    }

    private func encode(_ bytes: [UInt8]) -> [UInt8] {
        var text = [UInt8](repeating: 0, count: bytes.count * 2)
        text.withUnsafeMutableBytes { text in bytes.withRawBytes { Hexadecimal.encode($0, into: text) } }
        return text
    }

    private func decode(_ text: [UInt8], count: Int) throws -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: count)
        try bytes.withUnsafeMutableBytes { bytes in try text.withRawBytes { try Hexadecimal.decode($0, into: bytes) } }
        return bytes
    }
}
