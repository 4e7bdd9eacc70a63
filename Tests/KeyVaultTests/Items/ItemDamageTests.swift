import Testing

@testable import KeyVault

/// Tests that a table which this program would not have written is refused, or does not fit its wrap.
@Suite struct ItemDamageTests {
    private let forge: ItemForge

    init() throws { forge = try ItemForge() }

    @Test(arguments: Accessibility.allCases)
    func everyFlippedBitIsRefusedOrFoundByTheWrap(accessibility: Accessibility) throws {
        let good = try forge.entry("service", "account", label: "label", accessibility, value: [1, 2, 3, 4])
        let dates = 8..<24
        let label = ItemEntry.fixedSize + 14..<ItemEntry.fixedSize + 19
        let bytes = Array(good.bytes)
        for bit in 0..<bytes.count * 8 {
            var bad = bytes
            bad[bit / 8] ^= 1 << UInt8(bit % 8)
            let refusal = code { () throws(VaultError) in
                for entry in try ItemForge.parse(bad).entries { _ = try forge.open(entry) }
            }
            // Dates and label are not bound to the value, which does not depend on them. Only the body's seal detects
            // these changes.
            if !dates.contains(bit / 8) && !label.contains(bit / 8) { #expect(refusal != nil, "bit \(bit)") }
            let known: [VaultError.Code?] = [nil, .corrupt, .unsupported, .wrongDevice]
            #expect(known.contains(refusal), "bit \(bit)")
        }
    }

    @Test func everyTruncationIsRefused() throws {
        let table = try forge.table([try forge.entry("s", "a"), try forge.entry("s", "b", label: "label")])
        let whole = Set(table.entries.indices.map { table.entries[..<$0].reduce(0) { $0 + $1.bytes.count } })
        for size in 0..<table.encodedSize where !whole.contains(size) {
            #expect(
                code { () throws(VaultError) in _ = try ItemForge.parse(Array(table.encoded[..<size])) } == .corrupt)
        }
        #expect(whole.count == 2)
    }

    @Test func aTableOutOfOrderOrWithANameTwiceIsCorrupt() throws {
        let (a, b) = (try forge.entry("s", "a"), try forge.entry("s", "b"))
        for entries in [[b, a], [a, a], [a, b, a], [a, b, b]] {
            let bytes = entries.flatMap(\.bytes)
            #expect(code { () throws(VaultError) in _ = try ItemForge.parse(bytes) } == .corrupt)
        }
        #expect(try ItemForge.parse([a, b].flatMap(\.bytes)).entries.count == 2)
    }

    @Test(arguments: [0, 5, 255] as [UInt8])
    func anUnknownAccessibilityIsUnsupported(number: UInt8) throws {
        var bytes = Array(try forge.entry("s", "a").bytes)
        bytes[6] = number
        let bad = bytes
        #expect(code { () throws(VaultError) in _ = try ItemForge.parse(bad) } == .unsupported)
    }

    @Test(arguments: [0xFF, 0xC0, 0x80, 0x00] as [UInt8], [0, 1, 2])
    func aTextThatIsInvalidIsCorrupt(byte: UInt8, field: Int) throws {
        var bytes = Array(try forge.entry("s", "a", label: "l").bytes)
        bytes[ItemEntry.fixedSize + field] = byte
        let bad = bytes
        #expect(code { () throws(VaultError) in _ = try ItemForge.parse(bad) } == .corrupt)
    }

    @Test func aLetterCutInTwoByABoundaryIsCorrupt() throws {
        // "é" is split between the service and the account. Both together would be UTF-8.
        var bytes = Array(try forge.entry("sé", "a").bytes)
        bytes[0] = 2
        bytes[2] = 2
        let bad = bytes
        #expect(code { () throws(VaultError) in _ = try ItemForge.parse(bad) } == .corrupt)
    }

    @Test(arguments: [0, 2, 4])
    func anOverlongFieldIsCorrupt(offset: Int) throws {
        let longest = String(repeating: "x", count: ItemLimits.nameSize)
        var bytes = Array(try forge.entry(longest, longest, label: longest).bytes)
        #expect(throws: Never.self) { try ItemForge.parse(bytes) }
        bytes[offset] = 1
        let bad = bytes
        #expect(code { () throws(VaultError) in _ = try ItemForge.parse(bad) } == .corrupt)
    }

    @Test(arguments: [0, 2])
    func anEmptyServiceOrAccountIsCorrupt(offset: Int) throws {
        var bytes = Array(try forge.entry("s", "a", label: "l").bytes)
        bytes[offset] = 0
        let bad = bytes
        #expect(code { () throws(VaultError) in _ = try ItemForge.parse(bad) } == .corrupt)
    }

    @Test func sizesBeyondWhatIsThereAreRefusedBeforeAnythingIsMade() throws {
        // An entry of 90 bytes claims a value of nearly 4 GiB.
        var bytes = Array(try forge.entry("s", "a").bytes)
        bytes.replaceSubrange(24..<28, with: [255, 255, 255, 255])
        let bad = bytes
        #expect(code { () throws(VaultError) in _ = try ItemForge.parse(bad) } == .corrupt)
    }

    @Test func anyBytesAreATableOrRefused() throws {
        let good = try forge.table([
            try forge.entry("s", "a", label: "l"), try forge.entry("s", "é", .whenUnlocked), try forge.entry("t", "a"),
        ]).encoded
        var random = SeededBytes(state: 7)
        var tables = 0
        for _ in 0..<20_000 {
            var bad = good
            for _ in 0..<1 + random.next() % 4 { bad[random.next() % bad.count] = UInt8(random.next() % 256) }
            if random.next() % 4 == 0 { bad.removeLast(random.next() % bad.count) }
            let bytes = bad
            let refusal = code { () throws(VaultError) in
                let table = try ItemForge.parse(bytes)
                tables += 1
                // This program would have written the accepted table.
                #expect(table.encoded == bytes)
            }
            #expect([nil, .corrupt, .unsupported].contains(refusal))
        }
        #expect(tables > 0)
    }
}

/// The same numbers in every run (a linear congruential generator, Knuth's MMIX constants).
private struct SeededBytes {
    var state: UInt64

    mutating func next() -> Int {
        state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
        return Int(state >> 33)
    }
}
