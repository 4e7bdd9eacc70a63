import ContainerAudit
import FoundationEssentials
import KeyVault
import SealedState
import TestSupport
import Testing

@Suite struct RecordHabitTests {
    let yard: AuditYard
    init() throws { yard = try AuditYard() }

    @Test(arguments: ["accounts/ada/access-token", "accounts/session-1", "refreshToken", "jwt"])
    func aCredentialWithoutAnEndIsGoodToKnow(name: String) throws {
        let store = try yard.store()
        try store.write(Token(text: "x"), named: name)
        let report = try yard.audit()
        #expect(report.ids == ["record.endless"])
        #expect(report.isClean)
        #expect(report.findings.first?.detail.contains(name) == true)
    }

    @Test(arguments: ["token_count", "session-settings", "tokenizer", "accounts", "tokens/state"])
    func whatIsOnlyNamedAlikeIsNot(name: String) throws {
        let store = try yard.store()
        try store.write(Token(text: "x"), named: name)
        #expect(try yard.audit().ids == [])
    }

    @Test func aCredentialWithAnEndIsAsItShouldBe() throws {
        let store = try yard.store()
        try store.write(Token(text: "x", end: Date() + 3600), named: "jwt")
        #expect(try yard.audit().ids == [])
    }

    @Test func manyAreOneFinding() throws {
        let store = try yard.store()
        for index in 0..<20 { try store.write(Token(text: "x"), named: "accounts/\(index)/jwt") }
        let report = try yard.audit()
        #expect(report.ids == ["record.endless"])
        #expect(report.findings.first?.detail.contains("and 12 more") == true)
    }

    @Test func whereThereIsAStricterClassItIsNamed() throws {
        let identity = try Identity.random()
        _ = try Vault.create(
            AccessGroup(yard.group), in: yard.home, slots: [.recipient(identity.recipient), .defaultKeyFile],
            openingWith: .identity(identity))
        let store = try yard.store()
        try store.write(Token(text: "x", end: Date() + 3600), named: "jwt")
        #expect(try yard.audit().ids == ["record.reachable"])
    }
}
