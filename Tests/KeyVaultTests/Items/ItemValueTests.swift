import Testing

@testable import KeyVault

/// Tests of the binding of an item's value.
@Suite struct ItemValueTests {
    private let forge: ItemForge

    init() throws { forge = try ItemForge() }

    /// A size that is stored in the index, and one that is stored in a separate file.
    static let sizes = [3, 1000]

    private func value(_ size: Int) -> [UInt8] { (0..<size).map { UInt8(truncatingIfNeeded: $0 &* 31) } }

    /// Returns the entry `place` with the value of `source`: its id, its wrapped key and its sealed data.
    private func moved(_ source: ItemEntry, to place: ItemEntry) throws -> ItemEntry {
        var bytes = Array(place.bytes.dropLast(place.sealedValue.count))
        bytes.replaceSubrange(48..<64, with: source.valueID)
        bytes.replaceSubrange(64..<136, with: source.wrappedKey)
        return try #require(try ItemForge.parse(bytes + source.sealedValue).entries.first)
    }

    private func openingCode(_ entry: ItemEntry, with forge: ItemForge, file: [UInt8]? = nil) -> VaultError.Code? {
        code { () throws(VaultError) in _ = try forge.open(entry, file: file) }
    }

    @Test(arguments: [0, 1, 255, 256, 257, 4096, 1 << 20])
    func valuesOfEverySizeComeBack(size: Int) throws {
        let entry = try forge.entry("s", "a", value: value(size))
        #expect(entry.valueSize == size)
        #expect(entry.isInline == (size <= 256))
        #expect(forge.files.count == (size <= 256 ? 0 : 1))
        #expect(try forge.open(entry) == value(size))
    }

    @Test func theSameValueTwiceLooksDifferent() throws {
        let (one, two) = (try forge.entry("s", "a"), try forge.entry("s", "a"))
        #expect(one.sealedValue != two.sealedValue && one.wrappedKey != two.wrappedKey && one.valueID != two.valueID)
        let names = try (0..<2).map { _ in try forge.entry("s", "a", value: value(300)).valueFileName }
        let files = try names.map { try #require(forge.files[$0]) }
        #expect(files[0].suffix(300) != files[1].suffix(300))
    }

    @Test(arguments: sizes) func aValueDoesNotMoveToAnotherName(size: Int) throws {
        let source = try forge.entry("ab", "c", value: value(size))
        // "ab" + "c" and "a" + "bc" consist of the same letters.
        for (service, account) in [("ab", "d"), ("ax", "c"), ("a", "bc"), ("c", "ab")] {
            let place = try forge.entry(service, account, value: value(size))
            #expect(openingCode(try moved(source, to: place), with: forge) == .corrupt)
        }
        let relabelled = try forge.entry("ab", "c", label: "new", value: value(size))
        #expect(openingCode(try moved(source, to: relabelled), with: forge) == nil)
    }

    @Test(arguments: sizes) func aValueDoesNotMoveToAnotherAccessibility(size: Int) throws {
        for from in Accessibility.allCases {
            for to in Accessibility.allCases {
                let entry = try moved(
                    try forge.entry("s", "a", from, value: value(size)),
                    to: try forge.entry("s", "a", to, value: value(size)))
                #expect(openingCode(entry, with: forge) == (from == to ? nil : .corrupt))
            }
        }
    }

    @Test(arguments: Accessibility.allCases)
    func aValueDoesNotMoveToAnotherVaultOrRoot(accessibility: Accessibility) throws {
        let entry = try forge.entry("s", "a", accessibility)
        // The machine's mark includes the vault's id.
        let refusal: VaultError.Code = accessibility.isThisDeviceOnly ? .wrongDevice : .corrupt
        #expect(openingCode(entry, with: try ItemForge(vaultID: 9)) == refusal)
        #expect(openingCode(entry, with: try ItemForge(root: 9)) == .corrupt)
        #expect(openingCode(entry, with: try ItemForge()) == nil)
    }

    @Test(arguments: Accessibility.allCases)
    func onlyTheThisDeviceOnlyFormsStayOnTheirMachine(accessibility: Accessibility) throws {
        let entry = try forge.entry("s", "a", accessibility)
        let elsewhere = openingCode(entry, with: try ItemForge(device: "9"))
        #expect(elsewhere == (accessibility.isThisDeviceOnly ? .wrongDevice : nil))
    }

    @Test func theMachinesMarkIsNotItsTagAndCannotBeForged() throws {
        let (here, there) = (try ItemForge(device: "2"), try ItemForge(device: "9"))
        let entry = try here.entry("s", "a", .afterFirstUnlockThisDeviceOnly)
        // An attacker who can write the index replaces the machine's mark. The key still depends on the first machine's
        // tag.
        var bytes = Array(entry.bytes)
        bytes.replaceSubrange(32..<48, with: try there.entry("s", "a", .afterFirstUnlockThisDeviceOnly).device)
        let forged = try #require(try ItemForge.parse(bytes).entries.first)
        #expect(openingCode(forged, with: there) == .corrupt)
        #expect(openingCode(forged, with: here) == .wrongDevice)
    }

    @Test func everyFlippedBitOfAValueFileIsCorrupt() throws {
        let entry = try forge.entry("s", "a", value: value(300))
        let good = try #require(forge.files[entry.valueFileName])
        for bit in 0..<good.count * 8 {
            var bad = good
            bad[bit / 8] ^= 1 << UInt8(bit % 8)
            #expect(openingCode(entry, with: forge, file: bad) == .corrupt, "bit \(bit)")
        }
        for count in [0, 8, 24, good.count - 1] {
            #expect(openingCode(entry, with: forge, file: Array(good[..<count])) == .corrupt)
        }
        #expect(openingCode(entry, with: forge, file: good + [0]) == .corrupt)
        #expect(openingCode(entry, with: forge, file: good) == nil)
    }

    @Test func theEntryHoldsNoValueInPlaintext() throws {
        let canary = Array("a value that must not be visible".utf8)
        let bytes = try forge.entry("s", "a", value: canary).bytes
        #expect(!bytes.indices.contains { bytes[$0...].starts(with: canary.prefix(8)) })
        let entry = try forge.entry("s", "b", value: canary + value(300))
        let file = try #require(forge.files[entry.valueFileName])
        #expect(!file.indices.contains { file[$0...].starts(with: canary.prefix(8)) })
    }

    // MARK: The index

    @Test func anIndexHoldsItemsOfItsOwnClassOnly() throws {
        for accessibility in Accessibility.allCases {
            let bytes = Array(try forge.entry("s", "a", accessibility).bytes)
            for role in CompartmentRole.allCases {
                let refusal = code { () throws(VaultError) in _ = try ItemForge.parse(bytes, role: role) }
                let fits = role == .backup || role == CompartmentRole(accessibility.protection)
                #expect(refusal == (fits ? nil : .corrupt))
            }
        }
    }

    @Test func anInlineValueHasAtMost256Bytes() throws {
        // This is the largest inline entry, larger by one byte, with its size.
        let entry = try forge.entry("s", "a", value: value(256))
        var bytes = Array(entry.bytes) + [0]
        bytes[24] = 1
        bytes[25] = 1
        let grown = bytes
        #expect(code { () throws(VaultError) in _ = try ItemForge.parse(grown) } == .corrupt)
        // A small value has no separate file.
        bytes = Array(entry.bytes.dropLast(272))
        bytes[7] = 1
        let apart = bytes
        #expect(code { () throws(VaultError) in _ = try ItemForge.parse(apart) } == .corrupt)
    }
}
