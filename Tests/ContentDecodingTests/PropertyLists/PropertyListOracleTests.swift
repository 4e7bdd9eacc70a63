import ContentDecoding
import Foundation
import TestSupport
import Testing

/// Tests against Python's `plistlib`: the same values in the same places, from both formats.
@Suite struct PropertyListOracleTests {
    private static let program = """
        alphabet = "abcXYZ 09é嬢😀<>&\\"'\\n"
        def text(): return "".join(random.choice(alphabet) for _ in range(random.randrange(0, 12)))
        def value(depth):
            kind = random.randrange(10 if depth else 7)
            if kind == 0: return random.random() < 0.5
            if kind == 1: return random.randrange(-2**63, 2**64) >> random.randrange(0, 64)
            if kind == 2: return random.uniform(-1e6, 1e6)
            if kind == 3: return datetime.datetime(1970, 1, 1) + datetime.timedelta(seconds=random.randrange(0, 4*10**9))
            if kind == 4: return bytes(random.randrange(128, 256) for _ in range(random.randrange(0, 40)))
            if kind in (5, 6): return text()
            if kind == 7: return [value(depth - 1) for _ in range(random.randrange(0, 6))]
            return {"k" + text().replace("\\n", ""): value(depth - 1) for _ in range(random.randrange(0, 6))}
        leaves = []
        def walk(item, place):
            if isinstance(item, dict):
                for key, child in item.items():
                    # Long keys come as texts too.
                    if len(key.encode()) >= 16: leaves.append([place, "text", base64.b64encode(key.encode()).decode()])
                    walk(child, place + ("." if place else "") + key)
            elif isinstance(item, list):
                for index, child in enumerate(item): walk(child, place + "[%d]" % index)
            elif isinstance(item, bool): leaves.append([place, "flag", "1" if item else "0"])
            elif isinstance(item, (int, float)): leaves.append([place, "number", float(item).hex()])
            elif isinstance(item, datetime.datetime):
                leaves.append([place, "number", float((item - datetime.datetime(1970, 1, 1)).total_seconds()).hex()])
            elif isinstance(item, bytes): leaves.append([place, "data", base64.b64encode(item).decode()])
            else: leaves.append([place, "text", base64.b64encode(item.encode()).decode()])
        top = [value(4) for _ in range(40)]
        walk(top, "")
        write(binary(top), "binary")
        write(plistlib.dumps(top, fmt=FMT_XML), "xml")
        write(json.dumps(leaves).encode(), "leaves")
        """

    @Test(arguments: 0..<8)
    func theLeavesAreThoseOfPython(seed: Int) throws {
        let files = try Python.files("random.seed(\(seed))\n" + Self.program, ["binary", "xml", "leaves"])
        let expected = try JSONDecoder().decode([[String]].self, from: Data(files[2])).map { row in
            row[1] == "number" ? [row[0], row[1], Self.bits(Double(row[2]))] : row
        }
        for file in files[..<2] {
            let reading = CarrierReading(file)
            #expect(reading.notes.isEmpty)
            #expect(reading.fault == nil)
            let found = reading.leaves.map { [$0.place, $0.kind.rawValue, Self.spelling($0)] }
            #expect(Set(found) == Set(expected))
            #expect(found.count == expected.count)
        }
    }

    private static func spelling(_ leaf: FoundValue) -> String {
        switch leaf.kind {
        case .flag: leaf.number == 1 ? "1" : "0"
        case .number: bits(leaf.number)
        default: Data(leaf.bytes).base64EncodedString()
        }
    }

    /// Returns a number's bits. Python's hexadecimal notation equals Swift's, except for the exponent.
    private static func bits(_ number: Double?) -> String { number.map { "\($0.bitPattern)" } ?? "none" }
}
