import Glibc
import TestSupport
import Testing

@testable import KeyVault

/// Tests of values of more than 256 bytes, each in a separate file beside the index.
@Suite struct ValueFileTests {
    private let fixture: VaultFixture
    private let vault: Vault
    private let identity: Identity

    init() throws {
        fixture = try VaultFixture()
        identity = try .random()
        vault = try fixture.create(with: .identity(identity))
    }

    private static let classes: [Accessibility] = [.afterFirstUnlock, .whenUnlocked]

    private func directory(_ accessibility: Accessibility) -> String {
        fixture.beside(accessibility.protection == .whenUnlocked ? "values.person" : "values")
    }

    private func names(_ accessibility: Accessibility) throws -> [String] {
        SystemFile.exists(directory(accessibility)) ? try SystemFile.names(directory(accessibility)) : []
    }

    private func value(_ byte: UInt8, _ size: Int = 300) -> [UInt8] { [UInt8](repeating: byte, count: size) }

    @Test(arguments: classes) func aLargeValueHasAFileOfItsOwnAndASmallOneNone(accessibility: Accessibility) throws {
        try vault.add("s", "small", accessibility, value(1, 256))
        #expect(try names(accessibility).isEmpty)
        try vault.add("s", "large", accessibility, value(2, 257))
        let name = try #require(try names(accessibility).first)
        #expect(try names(accessibility).count == 1 && name.utf8.count == 32)
        let path = "\(directory(accessibility))/\(name)"
        #expect(try SystemFile.mode(path) == 0o600)
        #expect(try SystemFile.mode(directory(accessibility)) & 0o777 == 0o700)
        #expect(try SystemFile.read(path).prefix(8) == Array("SVAL".utf8) + [1, 0, 0, 0])
        let other: Accessibility = accessibility == .whenUnlocked ? .afterFirstUnlock : .whenUnlocked
        #expect(try names(other).isEmpty)
        #expect(try fixture.open(with: .identity(identity)).value("s", "large") == value(2, 257))
    }

    @Test(arguments: classes) func anUpdateAndADeletionLeaveNoOldFile(accessibility: Accessibility) throws {
        try vault.add("s", "a", accessibility, value(1))
        let first = try names(accessibility)
        try vault.update("s", "a", value: value(2))
        #expect(try names(accessibility).count == 1 && names(accessibility) != first)
        // A new label does not change the value.
        let second = try names(accessibility)
        try vault.updateItem(service: "s", account: "a", label: "new")
        #expect(try names(accessibility) == second)
        try vault.update("s", "a", value: [1])
        #expect(try names(accessibility).isEmpty)
        try vault.update("s", "a", value: value(3))
        try vault.deleteItem(service: "s", account: "a")
        #expect(try names(accessibility).isEmpty)
    }

    @Test func aNewClassMovesTheFile() throws {
        try vault.add("s", "a", .afterFirstUnlock, value(1))
        try vault.updateItem(service: "s", account: "a", accessibility: .whenUnlocked)
        #expect(try (names(.afterFirstUnlock).count, names(.whenUnlocked).count) == (0, 1))
        #expect(try vault.value("s", "a") == value(1))
        try vault.updateItem(service: "s", account: "a", accessibility: .afterFirstUnlock)
        #expect(try (names(.afterFirstUnlock).count, names(.whenUnlocked).count) == (1, 0))
        #expect(try vault.value("s", "a") == value(1))
    }

    /// Any fault of one value's file is reported, and every other item remains as it is.
    @Test(arguments: classes, ["missing", "swapped", "stale", "flipped", "cut", "empty", "fifo"])
    func aBadFileIsCorruptForItsItemAlone(accessibility: Accessibility, fault: String) throws {
        try vault.add("s", "a", accessibility, value(1))
        let path = "\(directory(accessibility))/\(try #require(try names(accessibility).first))"
        let old = try SystemFile.read(path)
        try vault.add("s", "b", accessibility, value(2))
        try vault.add("s", "c", accessibility, [3])
        let other = try #require(try names(accessibility).first { !path.hasSuffix($0) })
        switch fault {
        case "missing": unlink(path)
        case "swapped": try SystemFile.write(path, SystemFile.read("\(directory(accessibility))/\(other)"))
        case "stale":
            // The old value gets the new value's name.
            try vault.update("s", "a", value: value(4))
            let new = try #require(try names(accessibility).first { $0 != other })
            try SystemFile.write("\(directory(accessibility))/\(new)", old)
        case "flipped": try SystemFile.write(path, old.dropLast() + [old[old.count - 1] ^ 1])
        case "cut": try SystemFile.write(path, old.dropLast())
        case "empty": try SystemFile.write(path, [])
        default:
            unlink(path)
            mkfifo(path, 0o600)
        }
        let opened = try fixture.open(with: .identity(identity))
        let refusal = code { () throws(VaultError) in _ = try opened.value("s", "a") }
        #expect(refusal == (fault == "fifo" ? .unsafeFile : .corrupt))
        #expect(try opened.items().map(\.account) == ["a", "b", "c"])
        #expect(try opened.value("s", "b") == value(2))
        #expect(try opened.value("s", "c") == [3])
        // The item can be replaced, and is valid again.
        try opened.update("s", "a", value: value(5))
        #expect(try fixture.open(with: .identity(identity)).value("s", "a") == value(5))
    }

    @Test func aRefusedChangeLeavesItsFileForTheNextSweep() throws {
        try vault.add("s", "a", .afterFirstUnlock, value(1))
        #expect(
            code { () throws(VaultError) in try vault.add("s", "a", .afterFirstUnlock, value(2)) } == .duplicateItem)
        try SystemFile.write("\(directory(.afterFirstUnlock))/\(String(repeating: "0", count: 32))", [1])
        try vault.add("s", "b", .afterFirstUnlock, value(3))
        #expect(try names(.afterFirstUnlock).count == 2)
        #expect(try vault.value("s", "a") == value(1))
    }

    @Test func aValueDirectoryThatIsALinkIsNotFollowed() throws {
        let elsewhere = try fixture.directory.directory("elsewhere")
        try fixture.directory.link("Vaults/\(fixture.accessGroup)/values", to: elsewhere)
        #expect(code { () throws(VaultError) in try vault.add("s", "a", .afterFirstUnlock, value(1)) } != nil)
        #expect(try SystemFile.names(elsewhere).isEmpty)
        #expect(try vault.items().isEmpty)
    }
}
