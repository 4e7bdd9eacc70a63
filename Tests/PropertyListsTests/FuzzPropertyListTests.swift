import TestSupport
import Testing

@testable import PropertyLists

/// Tests of files that are changed at random, with the readers: nothing crashes, and a value that is read can be
/// written and read again. 3,000 of each format; 200,000 with `SEALED_LONG=1` (`make fuzz`).
@Suite struct FuzzPropertyListTests {
    private static let rounds: UInt64 = isLongForm ? 200_000 : 3000

    private static let openStep = Array(
        """
        // !$*UTF8*$!
        { a = (b, "c\\n\\U00e9\\101", <0a0b>, ); "d e" = { f = g; h; /* i */ }; j = 'k'; }
        """.utf8)

    /// A small value, so that a change is likely to matter.
    private static let small = PropertyListValue.dictionary([
        "text": .string("größer 😀 <&>"), "numbers": .array([.integer(-1), .unsigned(.max), .real(1.5), .bool(true)]),
        "when": .date(Samples.date(1)), "bytes": .data([1, 2, 3]), "map": .dictionary(["a": .array([])]),
    ])

    private static func sample(_ format: PropertyListFormat) throws -> [UInt8] {
        format == .openStep ? openStep : try PropertyList.bytes(of: small, as: format)
    }

    private static let pieces: [[UInt8]] = [
        "<dict>", "</dict>", "<array>", "<key>", "</key>", "<string/>", "&#x", "&amp;", "<![CDATA[", "]]>", "<!--",
        "-->", "<?", "{", "}", "(", ")",
        "=", ";", ",", "\"", "\\U", "\\", "/*", "*/", "//", "<", ">", "bplist00", "\u{FEFF}", "e\u{301}",
    ].map { Array($0.utf8) }

    private static func change(_ bytes: inout [UInt8], using generator: inout SeededGenerator) {
        for _ in 0..<Int.random(in: 1...4, using: &generator) {
            guard !bytes.isEmpty else { return }
            let place = bytes.indices.randomElement(using: &generator) ?? 0
            switch Int.random(in: 0..<7, using: &generator) {
            case 0: bytes[place] = UInt8(truncatingIfNeeded: generator.next())
            case 1: bytes[place] ^= 1 << UInt8.random(in: 0..<8, using: &generator)
            case 2: bytes.remove(at: place)
            case 3: bytes.insert(contentsOf: pieces.randomElement(using: &generator) ?? [], at: place)
            case 4: bytes.removeSubrange(place..<min(bytes.count, place + Int.random(in: 1..<20, using: &generator)))
            case 5: bytes.insert(contentsOf: bytes[place..<min(bytes.count, place + 12)], at: place)
            default: bytes[place] = [0, 0xFF, 0x7F, 0x80, 1].randomElement(using: &generator) ?? 0
            }
        }
    }

    @Test(arguments: PropertyListFormat.allCases) func readValuesCanBeWrittenAndReadAgain(
        _ format: PropertyListFormat
    ) throws {
        let sample = try Self.sample(format)
        var read = 0
        for seed in 0..<Self.rounds {
            var generator = SeededGenerator(seed: seed)
            var bytes = sample
            Self.change(&bytes, using: &generator)
            guard let value = try? PropertyList.parse(bytes).value else { continue }
            read += 1
            let written = try PropertyList.bytes(of: value, as: .binary)
            let back = try PropertyList.parse(written).value
            // Written again rather than compared: NaN equals nothing.
            #expect(try PropertyList.bytes(of: back, as: .binary) == written, "seed \(seed)")
            guard let text = try? PropertyList.bytes(of: value, as: .xml) else { continue }
            #expect(throws: Never.self, "seed \(seed)") { try PropertyList.parse(text) }
        }
        // Otherwise nothing was tested.
        #expect(read > Int(Self.rounds) / 100 && read < Int(Self.rounds), "\(read)")
    }

    @Test func rubbishIsRefusedOrRead() {
        for seed in 0..<Self.rounds {
            var generator = SeededGenerator(seed: seed)
            let bytes = generator.bytes(Int.random(in: 0..<200, using: &generator))
            _ = try? PropertyList.parse(bytes)
            _ = try? PropertyList.parse(Array("bplist00".utf8) + bytes)
            _ = try? PropertyList.parse(Array("<plist>".utf8) + bytes.map { $0 & 0x7F })
        }
    }
}
