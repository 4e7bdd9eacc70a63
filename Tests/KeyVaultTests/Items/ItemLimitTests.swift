import Testing

@testable import KeyVault

@Suite struct ItemLimitTests {
    private let forge: ItemForge

    init() throws { forge = try ItemForge() }

    private func limits(
        value: Int = 100, total: Int = 1000, table: Int = 10_000, count: Int = 10
    ) -> ItemLimits {
        ItemLimits(valueSize: value, totalValueSize: total, tableSize: table, count: count)
    }

    /// Returns the results of adding items with values of these sizes one by one, and of reading a table that contains
    /// all of them.
    private func outcome(
        _ sizes: [Int], _ limits: ItemLimits
    ) throws -> (added: VaultError.Code?, read: VaultError.Code?) {
        let entries = try sizes.enumerated().map { index, size in
            try forge.entry("s", "a\(index)", value: [UInt8](repeating: 7, count: size))
        }
        let added = code { () throws(VaultError) in _ = try forge.table(entries, limits: limits) }
        let read = code { () throws(VaultError) in
            _ = try ItemForge.parse(entries.flatMap(\.bytes), limits: limits)
        }
        return (added, read)
    }

    @Test func theStandardLimitsAreTheDocumentedOnes() {
        let limits = ItemLimits.standard
        #expect(limits.valueSize == 1_048_576 && limits.totalValueSize == 67_108_864 && limits.count == 100_000)
        #expect(limits.tableSize < CompartmentFile.maximumPartSize)
    }

    @Test func aValueMayBeAsLargeAsAllowedAndNotAByteLarger() throws {
        #expect(try outcome([100], limits()) == (nil, nil))
        #expect(try outcome([101], limits()) == (.tooLarge, .corrupt))
    }

    @Test func allValuesMayBeAsLargeAsAllowedAndNotAByteLarger() throws {
        #expect(try outcome([100, 100, 50], limits(total: 250)) == (nil, nil))
        #expect(try outcome([100, 100, 51], limits(total: 250)) == (.tooLarge, .corrupt))
    }

    @Test func theTableMayBeAsLargeAsAllowedAndNotAByteLarger() throws {
        let size = try forge.entry("s", "a0", value: []).bytes.count
        #expect(try outcome([0, 1], limits(table: 2 * size + 1)) == (nil, nil))
        #expect(try outcome([1, 1], limits(table: 2 * size + 1)) == (.tooLarge, .corrupt))
    }

    @Test func asManyItemsAsAllowedAndNotOneMore() throws {
        #expect(try outcome([0, 0, 0], limits(count: 3)) == (nil, nil))
        #expect(try outcome([0, 0, 0, 0], limits(count: 3)) == (.tooLarge, .corrupt))
    }

    @Test func replacingCountsTheOldValueNoMore() throws {
        let limits = limits(total: 200, count: 2)
        var table = try forge.table(
            try ["a", "b"].map { try forge.entry("s", $0, value: [UInt8](repeating: 1, count: 100)) }, limits: limits)
        let before = table
        let same = try forge.entry("s", "a", value: [UInt8](repeating: 2, count: 100))
        try table.replace(with: same, limits: limits, path: ItemForge.path)
        #expect(table.totalValueSize == 200 && table != before)
        try table.remove(try ItemForge.name("s", "b"), path: ItemForge.path)
        #expect(throws: Never.self) {
            try table.insert(try forge.entry("s", "c", value: [1]), limits: limits, path: ItemForge.path)
        }
    }

    @Test(arguments: RefusedText.allCases)
    func aServiceOrAccountOutsideTheLimitsIsAnInvalidArgument(refused: RefusedText) {
        #expect(code { () throws(VaultError) in _ = try ItemForge.name(refused.text, "a") } == .invalidArgument)
        #expect(code { () throws(VaultError) in _ = try ItemForge.name("s", refused.text) } == .invalidArgument)
    }

    @Test(arguments: zip(["x", "x", "é"], [1, 1024, 512]))
    func aServiceOrAccountWithinTheLimitsIsTaken(part: String, count: Int) {
        let text = String(repeating: part, count: count)
        #expect(throws: Never.self) { try ItemForge.name(text, text) }
    }
}
