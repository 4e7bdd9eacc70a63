import ContentDecoding
import TestSupport
import Testing

/// Tests of damaged files of every form: each ends with a note or with values; the seed repeats a failure.
@Suite struct CarrierFuzzTests {
    private static let samples = """
        inner = binary({"user": {"token": "ghp_deep", "größe": [1, 2.5, True, b"raw"]}})
        top = a.value(root=a.box({"user": a.object("Account", token=a.add("x"), state=inner), "list": ["a", "b"]}))
        jar = file([page([cookie("b.org", "id", "/x", "12", 5, 700000000.0)])])
        values = {"a": inner, "b": base64.b64encode(inner).decode(), "c": inner.hex(), "d": "text"}
        for name, data in (("0", binary(values)), ("1", binary(top)), ("2", jar), ("3", gzip.compress(inner)),
                ("4", plistlib.dumps(values)), ("5", plistlib.dumps(inXML(top))),
                ("6", json.dumps({"b": values["b"], "c": [values["c"], 1.5, None], "d": "\\\\u00e9é"}).encode()),
                ("7", b'a = "b\\\\U00e9"; /* c */ d = (e, <00ff>, { f = g; });')):
            write(data, name)
        """

    @Test func damagedFilesCostANote() throws {
        let files = try Python.files(
            KeyedArchiveTests.archiver + CookiesReaderTests.writer + Self.samples, (0..<8).map { "\($0)" })
        var generator = SeededGenerator(seed: 20_261_121)
        for round in 0..<4000 {
            var bytes = files[round % files.count]
            for _ in 0..<Int.random(in: 1...4, using: &generator) { Self.damage(&bytes, &generator) }
            let budget = CarrierBudget(values: 100_000, inflated: 1 << 20, time: .seconds(20))
            let reading = CarrierReading(bytes, named: round % 8 == 7 ? "a.strings" : "", budget: budget)
            #expect(!reading.notes.map(\.fault).contains(.exhausted(.time)), "round \(round)")
            for leaf in reading.leaves {
                guard let range = leaf.range else { continue }
                #expect(range.lowerBound >= 0 && range.upperBound <= Int64(bytes.count), "round \(round)")
            }
        }
    }

    private static func damage(_ bytes: inout [UInt8], _ generator: inout SeededGenerator) {
        guard !bytes.isEmpty else { return }
        let place = Int.random(in: 0..<bytes.count, using: &generator)
        switch Int.random(in: 0..<5, using: &generator) {
        case 0: bytes[place] = UInt8.random(in: 0...255, using: &generator)
        case 1: bytes[place] ^= 1 << UInt8.random(in: 0..<8, using: &generator)
        case 2: bytes.removeSubrange(place..<min(bytes.count, place + Int.random(in: 1..<20, using: &generator)))
        case 3: bytes.insert(contentsOf: bytes[place...].prefix(20), at: place)
        default: bytes[place] = [0, 0xFF, 0x7F, 0x80, 0x0F, 0x1F][Int.random(in: 0..<6, using: &generator)]
        }
    }
}
