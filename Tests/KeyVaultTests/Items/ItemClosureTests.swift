import CryptoPrimitives
import FoundationEssentials
import Testing

@testable import KeyVault

/// Tests of the closures that borrow an item's value, and of the types of values.
@Suite struct ItemClosureTests {
    private let fixture: VaultFixture
    private let vault: Vault

    init() throws {
        fixture = try VaultFixture()
        vault = try fixture.create()
        try vault.addItem(service: "s", account: "a", value: [UInt8](0...9))
    }

    private struct Refusal: Error, Equatable { var number: Int }

    private func refuse(_ value: UnsafeRawBufferPointer) throws(Refusal) -> Int { throw Refusal(number: value.count) }

    @Test func anErrorOfTheProgramComesOutUnchanged() throws {
        #expect(throws: Refusal(number: 10)) { try vault.withValue(service: "s", account: "a", refuse) }
        #expect(throws: Refusal(number: 10)) { try vault.withValue(service: "s", account: "a") { try refuse($0) } }
    }

    @Test func anErrorOfTheProgramComesOutOfATasksCallUnchanged() async throws {
        let vault = vault
        await #expect(throws: Refusal(number: 10)) {
            try await vault.withValue(service: "s", account: "a") { value in
                if value.count > 3 { throw Refusal(number: value.count) }
                return value.count
            }
        }
    }

    @Test func aMissingItemIsTheVaultsErrorAndTheClosureDoesNotRun() throws {
        var runs = 0
        #expect {
            try vault.withValue(service: "s", account: "none") { value in
                runs += 1
                return try refuse(value)
            }
        } throws: { VaultError.Code.itemNotFound ~= $0 }
        #expect(runs == 0)
    }

    /// A `VaultError` of the closure keeps the call's type, and does not look like a damaged value file, which is read
    /// again if it was replaced in the meantime.
    @Test func aVaultErrorOfTheClosureIsThrownOnceAndLoggedAsReading() throws {
        var runs = 0
        try vault.addItem(service: "s", account: "large", value: [UInt8](repeating: 0, count: 300))
        let before = try vault.accessEntryCount()
        let thrown = code { () throws(VaultError) in
            _ = try vault.withValue(service: "s", account: "large") { (_) throws(VaultError) -> Int in
                runs += 1
                try vault.updateItem(service: "s", account: "large", value: [UInt8](repeating: 1, count: 300))
                throw .corrupt("here", "It is the program's own.")
            }
        }
        #expect(thrown == .corrupt && runs == 1)
        // The reading and the update.
        #expect(try vault.accessEntryCount() == before + 2)
    }

    @Test func aNoncopyableResultIsReturned() throws {
        let copy = try vault.withValue(service: "s", account: "a") { SecretBytes(copying: $0) }
        #expect(copy.count == 10)
    }

    @Test(arguments: ["", "p", "a pässword of more than fifteen bytes"])
    func textComesBackAsTextAndAsBytes(text: String) throws {
        try vault.addItem(service: "t", account: "text", value: text)
        try vault.addItem(service: "t", account: "data", value: Data(text.utf8))
        for account in ["text", "data"] {
            #expect(try vault.copyValue(service: "t", account: account, as: String.self) == text)
            #expect(try vault.copyValue(service: "t", account: account, as: Data.self) == Data(text.utf8))
            #expect(try vault.copyValue(service: "t", account: account, as: [UInt8].self) == Array(text.utf8))
        }
        #expect(try vault.item(service: "t", account: "text").size == text.utf8.count)
    }

    @Test func bytesThatAreNoTextAreRefusedAsText() throws {
        try vault.updateItem(service: "s", account: "a", value: [0xFF, 0xFE] as [UInt8])
        #expect(
            code { () throws(VaultError) in _ = try vault.copyValue(service: "s", account: "a", as: String.self) }
                == .invalidArgument)
    }

    @Test func secretBytesAreBorrowed() throws {
        let secret = SecretBytes(copying: UnsafeRawBufferPointer(start: nil, count: 0))
        try vault.addItem(service: "s", account: "empty", value: secret)
        try vault.updateItem(service: "s", account: "a", value: secret)
        #expect(try vault.items().map(\.size) == [0, 0])
    }
}

extension Vault {
    /// Returns the number of entries in the access log.
    fileprivate func accessEntryCount() throws -> Int {
        var count = 0
        _ = try log.read(noted: try current().service.state.logHead) { _, _ in count += 1 }
        return count
    }
}
