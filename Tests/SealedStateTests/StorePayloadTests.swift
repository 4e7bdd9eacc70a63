import CryptoPrimitives
import FoundationEssentials
import Sealing
import TestSupport
import Testing

@testable import SealedState

/// Tests of payloads without a type: they are held to the limits of typed readers and writers.
@Suite struct StorePayloadTests {
    private let fixture: StoreFixture
    private let store: SealedStore

    init() throws {
        fixture = try StoreFixture()
        store = try fixture.open()
    }

    struct Payload: Sendable {
        let codec: PayloadCodec
        let bytes: [UInt8]
        let read: StoreError.Code
        let write: StoreError.Code

        init(_ codec: PayloadCodec, _ bytes: [UInt8], read: StoreError.Code, write: StoreError.Code) {
            (self.codec, self.bytes, self.read, self.write) = (codec, bytes, read, write)
        }

        static func json(_ text: String) -> Payload {
            Payload(.json, Array(text.utf8), read: .unsafeStructure, write: .unsafeStructure)
        }
    }

    static let refused: [Payload] = [
        .json("[" + String(repeating: "1,", count: 99_999) + "1]"),
        .json("\"a" + String(repeating: "\u{301}", count: 31) + "\""),
        .json(String(repeating: "[", count: 65) + String(repeating: "]", count: 65)),
        .json("{\"" + String(repeating: "x", count: 4097) + "\":1}"),
        Payload(
            .binaryPropertyList, PropertyListFile.doubling(60).bytes, read: .unsafeStructure, write: .unsafeStructure),
        Payload(.binaryPropertyList, Array("<plist/>".utf8), read: .undecodable, write: .unencodable),
        Payload(.raw, [1, 2, 3], read: .undecodable, write: .unencodable),
    ]

    @Test(arguments: refused.indices) func anUndecodablePayloadIsNotWritten(_ index: Int) {
        let payload = Self.refused[index]
        let record = RecordPayload(Data(payload.bytes), codec: payload.codec, schemaVersion: 1, notAfter: 0)
        #expect(code { try store.write(payload: record, named: "planted") } == payload.write)
        #expect(!SystemFile.exists(fixture.file("planted")))
    }

    @Test(arguments: refused.indices) func anUndecodablePayloadIsNotOpened(_ index: Int) throws {
        let payload = Self.refused[index]
        var forgery = try Forgery(store)
        (forgery.name, forgery.schemaVersion) = ("planted", 1)
        (forgery.codec, forgery.payload) = (payload.codec, .bytes(payload.bytes))
        try fixture.plant(forgery.blob, "planted")
        let error = refusal { _ = try store.openPayload(named: "planted").plaintext.count }
        #expect(error?.code == payload.read)
    }

    @Test func aSoundPayloadIsWrittenAndOpened() throws {
        let text = Array(#"{"a":[1,2]}"#.utf8)
        try store.write(
            payload: RecordPayload(Data(text), codec: .json, schemaVersion: 1, notAfter: 0), named: "sound")
        #expect(try store.openPayload(named: "sound").plaintext.withUnsafeBytes { $0.elementsEqual(text) })
    }
}
