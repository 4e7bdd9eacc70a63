import CryptoPrimitives
import FoundationEssentials
import TestSupport
import Testing

@testable import KeyVault

/// Tests of items as a program uses them. A person opens every vault here, unless the test states otherwise.
@Suite struct VaultItemTests {
    private let fixture: VaultFixture
    private let vault: Vault

    init() throws {
        fixture = try VaultFixture()
        vault = try fixture.create(with: passphrase("one"))
    }

    private func reopened() throws -> Vault { try fixture.open(with: passphrase("one")) }

    @Test(arguments: Accessibility.allCases)
    func anItemOfEveryAccessibilityComesBack(accessibility: Accessibility) throws {
        let machine = try fixture.machine("here", digit: "a")
        try ItemValues.$machineIDPath.withValue(machine) {
            try vault.add("sérvice", "账户", label: "A läbel", accessibility, [0, 255])
            let reopened = try reopened()
            let item = try reopened.item(service: "sérvice", account: "账户")
            #expect(item.label == "A läbel" && item.accessibility == accessibility && item.size == 2)
            #expect(item.created == item.modified)
            #expect(abs(item.created.timeIntervalSinceNow) < 3600)
            #expect(try reopened.value("sérvice", "账户") == [0, 255])
        }
    }

    @Test(arguments: [0, 1, 4096, 4097, 1 << 20])
    func aBinaryValueOfEverySizeComesBack(size: Int) throws {
        let value = SecureRandom.bytes(count: size)
        try vault.add("s", "a", value)
        let reopened = try reopened()
        #expect(try reopened.value("s", "a") == value)
        let copy = try reopened.copyValue(service: "s", account: "a")
        #expect(copy.withUnsafeBytes { Array($0) } == value)
        #expect(try reopened.item(service: "s", account: "a").size == size)
    }

    @Test func aValueOfOneByteMoreThanAMebibyteIsTooLarge() throws {
        let large = [UInt8](repeating: 1, count: 1 << 20 + 1)
        try vault.add("s", "a")
        let before = try SystemFile.read(fixture.path)
        #expect(code { () throws(VaultError) in try vault.add("s", "b", large) } == .tooLarge)
        #expect(code { () throws(VaultError) in try vault.update("s", "a", value: large) } == .tooLarge)
        #expect(try SystemFile.read(fixture.path) == before)
    }

    @Test func theCapOnAllValuesHoldsForAddingAndUpdating() throws {
        let limits = ItemLimits(valueSize: 100, totalValueSize: 250, tableSize: 10_000, count: 100)
        func bytes(_ count: Int) -> [UInt8] { [UInt8](repeating: 1, count: count) }
        for account in ["a", "b"] { try vault.add("s", account, bytes(100), limits: limits) }
        #expect(code { () throws(VaultError) in try vault.add("s", "c", bytes(51), limits: limits) } == .tooLarge)
        try vault.add("s", "c", bytes(50), limits: limits)
        #expect(
            code { () throws(VaultError) in try vault.update("s", "c", value: bytes(51), limits: limits) } == .tooLarge)
        try vault.update("s", "a", value: bytes(99), limits: limits)
        try vault.update("s", "c", value: bytes(51), limits: limits)
        #expect(try reopened().items().map(\.size) == [99, 100, 51])
    }

    @Test func aSecondItemOfOneNameIsRefusedAndTheFirstStays() throws {
        try vault.add("s", "a", label: "first", [1])
        let before = try SystemFile.read(fixture.path)
        #expect(code { () throws(VaultError) in try vault.add("s", "a", label: "second", [2]) } == .duplicateItem)
        #expect(try SystemFile.read(fixture.path) == before)
        #expect(try reopened().value("s", "a") == [1])
        try vault.add("s", "A", [3])
        try vault.add("S", "a", [4])
        #expect(try reopened().items().count == 3)
    }

    @Test func anUpdateKeepsTheCreationDateAndWhatIsNotGiven() throws {
        try vault.add("s", "a", label: "old", [1])
        let original = try vault.item(service: "s", account: "a")
        waitForTheNextMillisecond()
        try vault.update("s", "a", value: [2, 2])
        let second = try reopened().item(service: "s", account: "a")
        #expect(second.created == original.created && second.modified > original.modified)
        #expect(second.label == "old" && second.size == 2)
        waitForTheNextMillisecond()
        try vault.updateItem(service: "s", account: "a", label: "new")
        let third = try reopened().item(service: "s", account: "a")
        #expect(third.created == original.created && third.modified > second.modified)
        #expect(third.label == "new" && third.accessibility == .afterFirstUnlock)
        #expect(try reopened().value("s", "a") == [2, 2])
    }

    @Test(arguments: [1, 4096, 5000])
    func aNewAccessibilityWrapsTheValueAgain(size: Int) throws {
        let value = SecureRandom.bytes(count: size)
        let machine = try fixture.machine("here", digit: "a")
        try vault.add("s", "a", value)
        try ItemValues.$machineIDPath.withValue(machine) {
            for accessibility in Accessibility.allCases.reversed() + Accessibility.allCases {
                try vault.updateItem(service: "s", account: "a", accessibility: accessibility)
                #expect(try reopened().item(service: "s", account: "a").accessibility == accessibility)
                #expect(try reopened().value("s", "a") == value)
            }
        }
    }

    @Test func aDeletedItemIsGoneAndItsNameIsFree() throws {
        try vault.add("s", "a")
        try vault.add("s", "b")
        try vault.deleteItem(service: "s", account: "a")
        #expect(try reopened().items().map(\.account) == ["b"])
        try vault.add("s", "a", [9])
        #expect(try reopened().value("s", "a") == [9])
    }

    @Test func missingValuesAreNotFound() throws {
        try vault.add("s", "a")
        let before = try SystemFile.read(fixture.path)
        #expect(code { () throws(VaultError) in _ = try vault.item(service: "s", account: "b") } == .itemNotFound)
        #expect(code { () throws(VaultError) in _ = try vault.value("s", "b") } == .itemNotFound)
        #expect(code { () throws(VaultError) in try vault.update("s", "b", value: [1]) } == .itemNotFound)
        #expect(code { () throws(VaultError) in try vault.deleteItem(service: "s", account: "b") } == .itemNotFound)
        #expect(try SystemFile.read(fixture.path) == before)
        #expect(try vault.items(service: "t") == [])
    }

    @Test(arguments: RefusedText.allCases)
    func aNameOutsideTheLimitsIsAnInvalidArgumentEverywhere(refused: RefusedText) throws {
        let text = refused.text
        #expect(code { () throws(VaultError) in try vault.add(text, "a") } == .invalidArgument)
        #expect(code { () throws(VaultError) in try vault.add("s", text) } == .invalidArgument)
        #expect(code { () throws(VaultError) in _ = try vault.item(service: text, account: "a") } == .invalidArgument)
        #expect(code { () throws(VaultError) in _ = try vault.value("s", text) } == .invalidArgument)
        #expect(code { () throws(VaultError) in try vault.update("s", text, value: [1]) } == .invalidArgument)
        #expect(code { () throws(VaultError) in try vault.deleteItem(service: text, account: "a") } == .invalidArgument)
        // A label may be empty, so this case does not apply to labels.
        let label = code { () throws(VaultError) in try vault.add("s", "a", label: text) }
        #expect(label == (text.isEmpty ? nil : .invalidArgument))
    }

    @Test func listsAreSortedAndByService() throws {
        for (service, account) in [("b", "z"), ("a", "y"), ("b", "x"), ("ab", "w")] { try vault.add(service, account) }
        let all = try reopened().items()
        #expect(all.map(\.service) == ["a", "ab", "b", "b"])
        #expect(all.map(\.account) == ["y", "w", "x", "z"])
        #expect(try reopened().items(service: "b") == Array(all.suffix(2)))
        #expect(try reopened().items(service: "c").isEmpty)
        #expect(try reopened().items(service: "").isEmpty)
    }

    @Test func anotherProgramsChangeIsSeenAtOnce() throws {
        // this program: open ............... find (absent) ................ find
        // another one:  .......... open .................. add, then update
        let other = try reopened()
        #expect(try other.items().isEmpty)
        try vault.add("s", "a", [1])
        #expect(try other.value("s", "a") == [1])
        try vault.update("s", "a", value: [2])
        #expect(try other.value("s", "a") == [2])
        try other.deleteItem(service: "s", account: "a")
        #expect(try vault.items().isEmpty)
    }

    @Test func aLoanWithinALoanIsAnother() throws {
        try vault.add("s", "a", [1])
        try vault.add("s", "b", [2])
        let both = try vault.withValue(service: "s", account: "a") { first in
            (try? vault.withValue(service: "s", account: "b") { Array(first) + Array($0) }) ?? []
        }
        #expect(both == [1, 2])
    }

    @Test func tenThousandItemsComeBack() throws {
        try vault.fill(10_000)
        let reopened = try reopened()
        let items = try reopened.items()
        #expect(items.count == 10_000)
        #expect(Set(items.map(\.account)).count == 10_000)
        #expect(try reopened.items(service: "service 7").count == 100)
        for number in stride(from: 7, to: 10_000, by: 997) {
            let value = try reopened.value("service \(number % 100)", "account \(number)")
            #expect(value == Array("value \(number)".utf8))
        }
    }
}

extension Vault {
    /// Adds many items in one write.
    func fill(_ count: Int) throws(VaultError) {
        let texts = (0..<count).map { "value \($0)" }
        // All values share one piece of memory, and each item borrows its part.
        let values = Array(texts.joined().utf8)
        try values.withRawBytes { values throws(VaultError) in
            var start = 0
            try addItems(
                texts.enumerated().map { number, text in
                    defer { start += text.utf8.count }
                    return NewItem(
                        service: "service \(number % 100)", account: "account \(number)", label: "label \(number)",
                        accessibility: .afterFirstUnlock,
                        value: UnsafeRawBufferPointer(rebasing: values[start..<start + text.utf8.count]))
                })
        }
    }
}

extension VaultFixture {
    /// Creates a machine-id file of another machine, and returns its path.
    func machine(_ name: String, digit: Character) throws -> String {
        let path = directory.path("\(name).machine-id")
        try SystemFile.write(path, Array((String(repeating: digit, count: 32) + "\n").utf8))
        return path
    }
}
