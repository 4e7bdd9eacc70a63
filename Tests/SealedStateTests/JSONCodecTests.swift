import CryptoPrimitives
import FoundationEssentials
import SealedState
import Testing

@Suite struct JSONCodecTests {
    struct Everything: Codable, Equatable {
        var zebra = 1
        var apple = "x/y"
        var when = Date(timeIntervalSince1970: 0.5)
        var bytes = Data([0, 255])
        var none: Int?
    }

    private func text(_ value: some Encodable) throws -> String {
        String(decoding: try JSONCodec.encode(value), as: UTF8.self)
    }

    private func decode<Value: Decodable>(_ type: Value.Type, _ bytes: [UInt8]) throws -> Value {
        try bytes.withUnsafeBytes { try JSONCodec.decode(type, from: $0) }
    }

    @Test func keysAreSortedAndDatesAndBytesAreText() throws {
        #expect(
            try text(Everything())
                == #"{"apple":"x/y","bytes":"AP8=","when":"1970-01-01T00:00:00.5Z","zebra":1}"#)
    }

    @Test func aValueReadsBackAsItWasWritten() throws {
        var value = Everything()
        value.when = Date()
        #expect(try decode(Everything.self, Array(try JSONCodec.encode(value))) == value)
    }

    @Test(arguments: [#""1970-01-01""#, "0", "-1.5", "null", #""0""#])
    func aDateIsNothingButRFC3339Text(_ json: String) {
        #expect(throws: DecodingError.self) { try decode([Date].self, Array("[\(json)]".utf8)) }
    }

    @Test func emptyInputIsNotAPropertyListValue() {
        #expect(throws: DecodingError.self) { try decode(Everything.self, []) }
        #expect(throws: DecodingError.self) { try decode([Int].self, Array("[1] x".utf8)) }
    }

    // Foundation would read them; the limit on nesting would count their bytes wrongly.
    @Test func otherEncodingsThanUTF8AreRefused() {
        func bytes(_ widths: ClosedRange<Int>) -> [UInt8] {
            Array("[1]".utf8).flatMap { byte in widths.map { $0 == 0 ? byte : 0 } }
        }
        let (little, big, wide, wideBig) = (bytes(0...1), bytes(-1...0), bytes(0...3), bytes(-3...0))
        for json in [
            little, big, wide, wideBig, [0xFF, 0xFE] + little, [0xFE, 0xFF] + big, [0xFF, 0xFE, 0, 0] + wide,
        ] {
            #expect(throws: DecodingError.self) { try decode([Int].self, json) }
        }
        #expect(throws: Never.self) { try decode([Int].self, Array("[1]".utf8)) }
    }
}
