import CryptoPrimitives
import Testing

@testable import KeyVault

@Suite struct RecipientTests {
    @Test func theTextComesBack() throws {
        let recipient = try Identity.random().recipient
        let text = recipient.description
        #expect(text.hasPrefix("sealed1") && text.utf8.count == 65)
        #expect(try Recipient(text) == recipient)
    }

    @Test func anInvalidRecipientIsMalformed() throws {
        let good = try Identity.random().recipient.description
        for text in ["", "sealed1", "sealed", String(good.dropLast()), good + " ", good.uppercased(), "sealed1é"] {
            #expect(code { () throws(VaultError) in _ = try Recipient(text) } == .malformedIdentity)
        }
    }

    @Test func anIdentityGivenByMistakeIsNotRepeated() throws {
        let text = "SEALED-SECRET-KEY-1QQQQSECRET"
        do throws(VaultError) {
            _ = try Recipient(text)
            Issue.record("taken")
        } catch {
            #expect(error.code == .malformedIdentity)
            #expect(!error.description.contains("QQQQ"))
        }
    }

    @Test func twoIdentitiesHaveTwoRecipients() throws {
        #expect(try Identity.random().recipient != Identity.random().recipient)
    }
}
