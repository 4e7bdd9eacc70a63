import FoundationEssentials
import SealedState
import Sealing
import TestSupport
import Testing

/// Tests of payloads that a key holder seals to make a reader crash, hang or bloat: they are refused at low cost.
@Suite struct HostilePayloadTests {
    struct Payload: Sendable {
        let name: String
        let codec: PayloadCodec
        let code: String
        let make: @Sendable () -> [UInt8]
    }

    private static func json(_ name: String, _ code: String, _ make: @escaping @Sendable () -> String) -> Payload {
        Payload(name: name, codec: .json, code: code) { Array(make().utf8) }
    }

    private static func list(_ name: String, _ code: String, _ make: @escaping @Sendable () -> [UInt8]) -> Payload {
        Payload(name: name, codec: .binaryPropertyList, code: code, make: make)
    }

    private static func times(_ count: Int, _ text: String) -> String { String(repeating: text, count: count) }

    static let payloads: [Payload] = [
        json("depth-100000", "unsafeStructure") { times(100_000, "[") + times(100_000, "]") },
        json("depth-of-objects", "unsafeStructure") { times(100_000, #"{"a":"#) + "1" + times(100_000, "}") },
        json("string-of-50-MB", "tooLarge") { "\"" + times(50 << 20, "x") + "\"" },
        json("half-a-million-values", "unsafeStructure") { "[" + times(500_000, "1,") + "1]" },
        json("half-a-million-containers", "unsafeStructure") { "[" + times(300_000, "[],") + "1]" },
        json("a-key-of-marks", "unsafeStructure") { #"{"a\#(times(250_000, "\u{301}\u{316}"))":1}"# },
        json("a-key-of-escaped-marks", "unsafeStructure") { #"{"a\#(times(80_000, #"\u0301\u0316"#))":1}"# },
        json("a-key-of-1-MB", "unsafeStructure") { #"{"\#(times(1_000_000, "x"))":1}"# },
        list("a-key-of-1-MB-in-a-list", "unsafeStructure") {
            var file = PropertyListFile([
                PropertyListFile.dictionary([(1, 2)]), PropertyListFile.text(times(1_000_000, "x")),
                PropertyListFile.one,
            ])
            file.offsetSize = 4
            return file.bytes
        },
        list("doubling-60-times", "unsafeStructure") { PropertyListFile.doubling(60).bytes },
        list("a-cycle", "unsafeStructure") { PropertyListFile([PropertyListFile.array([0])]).bytes },
        list("a-cycle-through-many", "unsafeStructure") {
            PropertyListFile((0..<60).map { PropertyListFile.array([($0 + 1) % 60]) }).bytes
        },
        list("shared-text", "unsafeStructure") {
            let references = [Int](repeating: 1, count: 255)
            return PropertyListFile([
                PropertyListFile.array(references), PropertyListFile.array([Int](repeating: 2, count: 255)),
                PropertyListFile.text(times(10_000, "x")),
            ]).bytes
        },
        list("depth-200", "unsafeStructure") {
            PropertyListFile((1..<200).map { PropertyListFile.array([$0]) } + [PropertyListFile.one]).bytes
        },
        list("a-text-of-marks", "unsafeStructure") {
            var file = PropertyListFile([PropertyListFile.wide("a" + times(100_000, "\u{301}\u{316}"))])
            file.offsetSize = 4
            return file.bytes
        },
        list("a-length-that-is-not-there", "undecodable") {
            PropertyListFile([[0xAF, 0x13] + PropertyListFile.big(1 << 60, 8)]).bytes
        },
        list("a-count-that-is-not-there", "undecodable") {
            var file = PropertyListFile([PropertyListFile.one])
            file.count = 1 << 56
            return file.bytes
        },
        list("XML", "undecodable") { Array("<?xml version=\"1.0\"?><plist><array/></plist>".utf8) },
    ]

    @Test func eachIsRefusedForLittle() throws {
        let probe = try PayloadCostProbe()
        for payload in Self.payloads {
            let answer = try probe.read(payload.make(), payload.codec, payload.name)
            #expect(answer.text == payload.code, "\(payload.name): \(answer)")
            #expect(answer.growth < PayloadCostProbe.growthLimit, "\(payload.name): \(answer)")
        }
    }

    // A reader that allows records of 64 MiB uses a few times their size, and no more.
    @Test func aLargeTextIsReadWhereLargeRecordsAreAllowed() throws {
        let probe = try PayloadCostProbe(maximumSize: 64 << 20)
        let text = try probe.read(Array("\"\(Self.times(50 << 20, "x"))\"".utf8), .json, "large")
        #expect(text.text == "read")
        #expect(text.growth < 5 * 50 * 1024, "\(text)")
        let deep = try probe.read(Array(Self.times(50 << 20, "[").utf8), .json, "large-and-deep")
        #expect(deep.text == "unsafeStructure")
    }

    @Test func valuesThatReadersRefuseAreNotWritten() throws {
        struct Tree: SealedRecord {
            static let recordName = "tree"
            static let schemaVersion = 1
            var branches: [Tree] = []
        }
        let fixture = try StoreFixture()
        let store = try fixture.open { $0.maximumValues = 50 }
        var tree = Tree()
        for _ in 0..<15 { tree = Tree(branches: [tree]) }
        try store.write(tree)
        #expect(code { try store.write(Tree(branches: [tree, tree])) } == .unsafeStructure)
        for _ in 0..<40 { tree = Tree(branches: [tree]) }
        #expect(code { try store.write(tree) } == .unsafeStructure)
        #expect(try store.read(Tree.self).branches.count == 1)
    }
}
