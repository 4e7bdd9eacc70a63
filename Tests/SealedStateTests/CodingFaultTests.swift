import FoundationEssentials
import SealedState
import TestSupport
import Testing

/// Tests of the errors of encoding and decoding.
@Suite struct CodingFaultTests {
    struct Inner: Codable { var amount: Double }
    struct Ledger: SealedRecord {
        static let recordName = "ledger"
        static let schemaVersion = 1
        var accounts: [String: [Inner]] = [:]
        var expiresAt: Date?
    }

    @Test(arguments: [Double.nan, .infinity, -.infinity]) func nonFiniteNumbersCannotBeEncoded(_ number: Double) throws
    {
        let fixture = try StoreFixture()
        let store = try fixture.open()
        let ledger = Ledger(accounts: ["x": [Inner(amount: number)]])
        #expect(code { try store.write(ledger) } == .unencodable)
        #expect(!SystemFile.exists(fixture.file("ledger")))
    }

    @Test func anExpiryThatNoHeaderHoldsCannotBeEncoded() throws {
        let store = try StoreFixture().open()
        for seconds in [Double.infinity, .nan, 1e300] {
            let ledger = Ledger(expiresAt: Date(timeIntervalSince1970: seconds))
            #expect(code { try store.write(ledger) } == .unencodable)
        }
    }

    @Test func theRefusalNamesTheFieldAndNeverWhatWasFound() throws {
        let fixture = try StoreFixture()
        let store = try fixture.open()
        let secret = "canary-4711"
        let cases = [
            #"{"accounts":{"canary-4711":[{"amount":"canary-4711"}]}}"#, #"{"accounts":{"canary-4711":[{}]}}"#,
            #"{"accounts":{"canary-4711":"canary-4711"}}"#, #"{"accounts":{"canary-4711":[{"amount":1e999}]}}"#,
            #"{"accounts":{"x":[]},"expiresAt":"canary-4711"}"#, #"{"accounts" canary-4711"#, #"["canary-4711"]"#,
        ]
        for (index, json) in cases.enumerated() {
            var forgery = try Forgery(store)
            forgery.name = Ledger.recordName
            forgery.schemaVersion = 1
            forgery.sequence = UInt64(index + 1)
            forgery.payload = .bytes(Array(json.utf8))
            try fixture.plant(forgery.blob, Ledger.recordName)
            let error = try #require(refusal { _ = try store.read(Ledger.self) })
            #expect(error.code == .undecodable)
            #expect(!error.description.contains(secret))
            #expect(!"\(error)".contains(secret))
            if index < 3 { #expect(error.reason.contains("accounts")) }
        }
        let value = Ledger(accounts: [secret: [Inner(amount: .nan)]])
        let error = try #require(refusal { try store.write(value) })
        #expect(!error.description.contains(secret))
        #expect(error.reason.contains("amount"))
    }
}
