import Testing

@testable import KeyVault

@Suite struct ItemWrapTests {
    private let forge = ItemForge()

    /// The entry `place` with the wrapped value of `source` in it.
    private func moved(_ source: ItemEntry, to place: ItemEntry) throws -> ItemEntry {
        let bytes = Array(place.bytes.dropLast(place.wrappedValue.count)) + source.wrappedValue
        return try #require(try ItemForge.parse(bytes).entries.first)
    }

    private func openingCode(_ entry: ItemEntry, with forge: ItemForge) -> VaultError.Code? {
        code { () throws(VaultError) in _ = try forge.open(entry) }
    }

    @Test(arguments: [0, 1, 4096, 4097, 1 << 20])
    func valuesOfEverySizeComeBack(size: Int) throws {
        let value = (0..<size).map { UInt8(truncatingIfNeeded: $0 &* 31) }
        let entry = try forge.entry("s", "a", value: value)
        #expect(entry.valueSize == size)
        #expect(try forge.open(entry) == value)
    }

    @Test func theSameValueTwiceLooksDifferent() throws {
        #expect(try forge.entry("s", "a").wrappedValue != forge.entry("s", "a").wrappedValue)
    }

    @Test func aValueDoesNotMoveToAnotherName() throws {
        let source = try forge.entry("ab", "c")
        // "ab" + "c" and "a" + "bc" are the same letters in a row.
        for (service, account) in [("ab", "d"), ("ax", "c"), ("a", "bc"), ("c", "ab")] {
            let place = try forge.entry(service, account)
            #expect(openingCode(try moved(source, to: place), with: forge) == .corrupt)
        }
        #expect(openingCode(try moved(source, to: try forge.entry("ab", "c", label: "new")), with: forge) == nil)
    }

    @Test func aValueDoesNotMoveToAnotherAccessibility() throws {
        for from in Accessibility.allCases {
            for to in Accessibility.allCases {
                let entry = try moved(try forge.entry("s", "a", from), to: try forge.entry("s", "a", to))
                #expect(openingCode(entry, with: forge) == (from == to ? nil : .corrupt))
            }
        }
    }

    @Test(arguments: Accessibility.allCases)
    func aValueDoesNotMoveToAnotherVaultOrClassKey(accessibility: Accessibility) throws {
        let entry = try forge.entry("s", "a", accessibility)
        // A vault's id is part of the machine's mark as well.
        let refusal: VaultError.Code = accessibility.isThisDeviceOnly ? .wrongDevice : .corrupt
        #expect(openingCode(entry, with: ItemForge(vaultID: 9)) == refusal)
        #expect(openingCode(entry, with: ItemForge(key: 9)) == .corrupt)
        #expect(openingCode(entry, with: ItemForge()) == nil)
    }

    @Test(arguments: Accessibility.allCases)
    func onlyTheThisDeviceOnlyFormsStayOnTheirMachine(accessibility: Accessibility) throws {
        let entry = try forge.entry("s", "a", accessibility)
        let elsewhere = openingCode(entry, with: ItemForge(device: 9))
        #expect(elsewhere == (accessibility.isThisDeviceOnly ? .wrongDevice : nil))
    }

    @Test func theMachinesMarkIsNotItsTagAndCannotBeForged() throws {
        let (here, there) = (ItemForge(device: 2), ItemForge(device: 9))
        let entry = try here.entry("s", "a", .afterFirstUnlockThisDeviceOnly)
        #expect(Array(entry.device) != [UInt8](repeating: 2, count: 16))
        // Whoever can write the body puts another machine's mark in: the key still hangs on the first one's tag.
        var bytes = Array(entry.bytes)
        bytes.replaceSubrange(32..<48, with: try there.entry("s", "a", .afterFirstUnlockThisDeviceOnly).device)
        let forged = try #require(try ItemForge.parse(bytes).entries.first)
        #expect(openingCode(forged, with: there) == .corrupt)
        #expect(openingCode(forged, with: here) == .wrongDevice)
    }

    @Test func theEntryHoldsNoValueInClear() throws {
        let canary = Array("a value that nobody may see".utf8)
        let bytes = try forge.entry("s", "a", value: canary).bytes
        #expect(!bytes.indices.contains { bytes[$0...].starts(with: canary.prefix(8)) })
    }
}
