import FoundationEssentials
import Testing

@testable import KeyVault

@Suite struct ItemTableTests {
    private let forge: ItemForge

    init() throws { forge = try ItemForge() }

    @Test func anEmptyTableHasNoBytes() throws {
        #expect(ItemTable.empty.encoded.isEmpty)
        #expect(try ItemForge.parse([]) == .empty)
    }

    @Test(arguments: Accessibility.allCases)
    func everyFieldComesBack(accessibility: Accessibility) throws {
        let entry = try forge.entry("sérvice", "账户", label: "A läbel", accessibility, value: [0, 255, 10])
        let read = try ItemForge.parse(try forge.table([entry]).encoded)
        let found = try #require(read[try ItemForge.name("sérvice", "账户")])
        let item = VaultItem(found)
        #expect(item.service == "sérvice" && item.account == "账户" && item.label == "A läbel")
        #expect(item.accessibility == accessibility)
        #expect(item.size == 3)
        #expect(item.created.timeIntervalSince1970 == 1_700_000_000)
        #expect(item.modified.timeIntervalSince1970 == 1_700_000_000.001)
        #expect(try forge.open(found) == [0, 255, 10])
    }

    @Test func readValuesAreWrittenTheSame() throws {
        let entries = try (0..<50).map { try forge.entry("s\($0 % 7)", "a\($0)", label: "l\($0)") }
        let bytes = try forge.table(entries).encoded
        #expect(try ItemForge.parse(bytes).encoded == bytes)
    }

    @Test func itemsAreSortedByServiceThenAccountByteByByte() throws {
        let sorted = ["B z", "a a", "a aa", "a b", "a\u{1} a", "aa a", "b a", "é a"]
            .map { $0.split(separator: " ").map { String($0) } }
        let table = try forge.table(try sorted.shuffled().map { try forge.entry($0[0], $0[1]) })
        #expect(table.entries.map { VaultItem($0).service } == sorted.map { $0[0] })
        #expect(table.entries.map { VaultItem($0).account } == sorted.map { $0[1] })
        #expect(throws: Never.self) { try ItemForge.parse(table.encoded) }
    }

    @Test func twoSpellingsOfOneLetterAreTwoNames() throws {
        let table = try forge.table([try forge.entry("e\u{301}", "a"), try forge.entry("é", "a", label: "composed")])
        #expect(table.entries.count == 2)
        let found = try #require(table[try ItemForge.name("é", "a")])
        #expect(VaultItem(found).label == "composed")
    }

    @Test func aSecondItemOfOneNameIsADuplicate() throws {
        var table = try forge.table([try forge.entry("s", "a")])
        let before = table
        let again = try forge.entry("s", "a", label: "other")
        #expect(code { () throws(VaultError) in try table.insert(again, path: ItemForge.path) } == .duplicateItem)
        #expect(table == before)
    }

    @Test func replacingAndRemovingNeedTheItem() throws {
        var table = try forge.table([try forge.entry("s", "a"), try forge.entry("s", "b")])
        let changed = try forge.entry("s", "a", label: "new", value: [9])
        try table.replace(with: changed, path: ItemForge.path)
        #expect(table[try ItemForge.name("s", "a")] == changed)
        try table.remove(try ItemForge.name("s", "a"), path: ItemForge.path)
        #expect(table[try ItemForge.name("s", "a")] == nil)
        #expect(table.entries.count == 1 && table.totalValueSize == 3)
        let name = try ItemForge.name("s", "a")
        #expect(code { () throws(VaultError) in try table.remove(name, path: ItemForge.path) } == .itemNotFound)
        #expect(
            code { () throws(VaultError) in try table.replace(with: changed, path: ItemForge.path) } == .itemNotFound)
        #expect(try ItemForge.parse(table.encoded) == table)
    }

    @Test func changingATableChangesNoOtherTable() throws {
        let first = try ItemForge.parse(try forge.table([try forge.entry("s", "a")]).encoded)
        var second = first
        try second.insert(try forge.entry("s", "b"), path: ItemForge.path)
        #expect(first.entries.count == 1 && second.entries.count == 2)
    }

    @Test func aServicesItemsAreFoundAlone() throws {
        let table = try forge.table(try (0..<60).map { try forge.entry("s\($0 % 6)", "a\($0)") })
        let found = table.entries(ofService: Array("s3".utf8)).map { VaultItem($0) }
        #expect(found.count == 10 && found.allSatisfy { $0.service == "s3" })
        #expect(found.map(\.account) == found.map(\.account).sorted())
        for missing in ["", "s", "s33", "t", "a"] { #expect(table.entries(ofService: Array(missing.utf8)).isEmpty) }
    }

    @Test func tenThousandItemsComeBack() throws {
        let entries = try (0..<10_000).map {
            try forge.entry("service \($0 % 100)", "account \($0)", value: [UInt8($0 & 255)])
        }
        let table = try ItemForge.parse(try forge.table(entries.shuffled()).encoded)
        #expect(table.entries.count == 10_000)
        #expect(table.totalValueSize == 10_000)
        for number in 0..<10_000 {
            let found = table[try ItemForge.name("service \(number % 100)", "account \(number)")]
            #expect(found == entries[number])
        }
        #expect(table.entries(ofService: Array("service 42".utf8)).count == 100)
    }
}
