import FoundationEssentials
import SealedState
import Sealing
import TestSupport
import Testing

private struct Photo: SealedRecord, Equatable {
    static let recordName = "photo"
    static let schemaVersion = 1
    static let format = RecordFormat.binaryPropertyList
    var thumbnail: Data
    var taken: Date
    var caption: String?
    var expiresAt: Date?
}

@Suite struct RecordFormatTests {
    @Test func aRecordIsWrittenInTheFormatOfItsType() throws {
        let fixture = try StoreFixture()
        let store = try fixture.open()
        let photo = Photo(thumbnail: Data([0, 255, 7]), taken: Date(), caption: "größer")
        try store.write(photo)
        #expect(try store.read(Photo.self) == photo)
        try store.write(Note(text: "x"))
        var codecs: [PayloadCodec] = []
        for name in ["photo", "note"] {
            let opened = try store.openPayload(named: name)
            codecs.append(opened.header.header.codec)
        }
        #expect(codecs == [.binaryPropertyList, .json])
    }

    @Test(arguments: [Double.nan, .infinity, 1e300]) func aDateOutOfRangeIsNotWritten(_ seconds: Double) throws {
        let store = try StoreFixture().open()
        let photo = Photo(thumbnail: Data(), taken: Date(timeIntervalSinceReferenceDate: seconds))
        #expect(code { try store.write(photo) } == .unencodable)
    }

    /// A script that writes random values as property lists with another implementation.
    static let script = """
        import plistlib, random, sys, datetime
        r = random.Random(int(sys.argv[1]))
        def value(depth):
            k = r.randrange(9 if depth < 6 else 7)
            if k == 0: return r.random() < 0.5
            if k == 1: return r.randrange(-2**63, 2**64) >> r.randrange(64)
            if k == 2: return r.uniform(-1e9, 1e9)
            if k == 3: return 'x' * r.randrange(40)
            if k == 4: return ''.join(r.choice('aé嬢😀') for _ in range(r.randrange(20)))
            if k == 5: return bytes(r.randrange(256) for _ in range(r.randrange(300)))
            if k == 6: return datetime.datetime(2001 + r.randrange(99), 1 + r.randrange(12), 5)
            if k == 7: return [value(depth + 1) for _ in range(r.randrange(20))]
            return {str(i): value(depth + 1) for i in range(r.randrange(20))}
        for i in range(50):
            top = {'value': value(0), 'list': [value(1) for _ in range(r.randrange(20))]}
            print(plistlib.dumps(top, fmt=plistlib.FMT_BINARY).hex())
        """

    private struct Anything: Decodable {}

    @Test(arguments: 0..<4) func pythonsOutputPasses(_ seed: Int) throws {
        let result = try ChildProcess.run(Python.path, ["-c", Self.script, "\(seed)"])
        let lines = result.outputText.split(separator: "\n")
        #expect(lines.count == 50)
        for line in lines {
            let digits = Array(line.utf8)
            let bytes = stride(from: 0, to: digits.count, by: 2).map { index in
                UInt8(String(decoding: digits[index..<index + 2], as: UTF8.self), radix: 16) ?? 0
            }
            try bytes.withUnsafeBytes { payload in
                _ = try PayloadCoding.decode(
                    [String: Anything].self, from: payload, codec: .binaryPropertyList,
                    limits: StoreOptions().structureLimits)
            }
        }
    }
}
